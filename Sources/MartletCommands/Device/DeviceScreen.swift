import APNSSimulator
import Synchronization

/// Shows what happens to a device: as a screen on a terminal, as JSON lines elsewhere. Safe from any thread.
final class DeviceScreen: Sendable {
    private let isDrawn: Bool
    private let colour: Bool
    private let picture: Mutex<DevicePicture>
    private let loss = Mutex<(@Sendable () -> Void)?>(nil)

    /// Makes a screen.
    ///
    /// - Parameters:
    ///   - name: What the device is called.
    ///   - isDrawn: Whether standard output is a terminal to draw on.
    ///   - colour: Whether it may be drawn in colour.
    init(name: String, isDrawn: Bool, colour: Bool = Console.allowsColour) {
        self.isDrawn = isDrawn
        self.colour = colour
        picture = Mutex(DevicePicture(name: name))
    }

    /// Shows an event.
    ///
    /// - Parameter event: What happened.
    func show(_ event: DeviceEvent) {
        if isDrawn {
            let lines = picture.withLock { picture in
                picture.take(event)
                return picture.lines(colour: colour)
            }
            Console.data(Array("\u{1b}[2J\u{1b}[H\(lines.joined(separator: "\n"))".utf8))
        } else {
            Console.data(DeviceLines.line(for: event).bytes)
        }
        do throws(CommandFailure) { try Console.flush() } catch { loss.withLock { $0 }?() }
    }

    /// Sets an action for the time when standard output takes nothing any more.
    ///
    /// - Parameter action: Called after each event that could not be shown, on the thread that shows the event.
    func whenLost(_ action: @escaping @Sendable () -> Void) {
        loss.withLock { $0 = action }
    }
}
