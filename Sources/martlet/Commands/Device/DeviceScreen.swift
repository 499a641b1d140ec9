import APNSSimulator
import EventLoop
import Glibc
import PushModel
import Synchronization

/// Shows what happens to a device: as a screen on a terminal, as JSON lines elsewhere. Safe from any thread.
final class DeviceScreen: Sendable {
    private let isDrawn: Bool
    private let picture: Mutex<DevicePicture>
    private let loss = Mutex<(@Sendable () -> Void)?>(nil)

    /// Makes a screen.
    /// - Parameters:
    ///   - name: What the device is called.
    ///   - isDrawn: Whether standard output is a terminal to draw on.
    init(name: String, isDrawn: Bool) {
        self.isDrawn = isDrawn
        picture = Mutex(DevicePicture(name: name))
    }

    /// Shows an event.
    /// - Parameter event: What happened.
    func show(_ event: DeviceEvent) {
        if isDrawn {
            let lines = picture.withLock { picture in
                picture.take(event)
                return picture.lines
            }
            Console.data(Array("\u{1b}[2J\u{1b}[H\(lines.joined(separator: "\n"))".utf8))
        } else {
            Console.data(DeviceLines.line(for: event).bytes)
        }
        do throws(CommandFailure) { try Console.flush() } catch { loss.withLock { $0 }?() }
    }

    /// Says what to do when standard output takes nothing any more.
    /// - Parameter action: Called after each event that could not be shown, from whatever thread shows it.
    func whenLost(_ action: @escaping @Sendable () -> Void) {
        loss.withLock { $0 = action }
    }
}

/// What stands on a device's screen. A value without terminal or clock.
struct DevicePicture {
    /// How many notifications the screen shows.
    static let shownLimit = 12
    /// How many tokens the screen shows.
    static let tokenLimit = 8

    private let name: String
    private var connection = "connecting"
    private var tokens: [(topic: String, token: String)] = []
    private var notifications: [DeviceFrame] = []
    private var note = ""

    /// Starts with an empty screen.
    /// - Parameter name: What the device is called.
    init(name: String) { self.name = name }

    /// Takes an event in.
    /// - Parameter event: What happened.
    mutating func take(_ event: DeviceEvent) {
        switch event {
        case .activated(let device): note = "activated as \(device)"
        case .online: connection = "online"
        case .offline(let reason, let retry):
            connection = retry.map { "offline (\(reason)), again in \($0) ms" } ?? "offline (\(reason))"
        case .token(_, let topic, _, let token):
            tokens.removeAll { $0.topic == topic }
            tokens.append((topic, token))
            if tokens.count > Self.tokenLimit { tokens.removeFirst() }
        case .notification(let frame):
            // What merges on a real device merges here.
            if let collapseID = frame.collapseID {
                notifications.removeAll { $0.collapseID == collapseID && $0.app == frame.app }
            }
            notifications.append(frame)
            if notifications.count > Self.shownLimit { notifications.removeFirst() }
        case .done(let words): note = words
        case .trouble(let words): note = "! \(words)"
        }
    }

    /// The screen from top to bottom, the newest notification first.
    var lines: [String] {
        var lines = ["\(name)  \(connection)", ""]
        for (topic, token) in tokens { lines += [topic, "  \(token)"] }
        lines.append("")
        for frame in notifications.reversed() {
            let text = "\(frame.app ?? "")  \(DeviceLines.summary(of: frame))"
            lines.append("\(TimeText.moment(frame.time ?? 0))  \(text)")
        }
        if notifications.isEmpty { lines.append("(nothing has arrived yet)") }
        lines.append("")
        lines += note.split(separator: "\n").map(String.init)
        // Much of this comes from others, who must not command the terminal.
        return lines.map(\.printable) + ["", "offline, online, low-power, uninstall, reinstall, restore, quit …"]
    }
}

/// The JSON lines of a device.
enum DeviceLines {
    /// The longest summary of a payload on a screen, in characters.
    private static let summaryLimit = 100

    /// The line for an event.
    /// - Parameter event: What happened.
    /// - Returns: One JSON object.
    static func line(for event: DeviceEvent) -> JSONValue {
        switch event {
        case .activated(let device): .object([("event", .text("activated")), ("device", .text(device))])
        case .online(let device): .object([("event", .text("online")), ("device", .text(device))])
        case .offline(let reason, let retry):
            .object([
                ("event", .text("offline")), ("reason", .text(reason)),
                ("retry_in_ms", .optional(retry.map { Int64($0) })),
            ])
        case .token(let app, let topic, let environment, let token):
            .object([
                ("event", .text("token")), ("app", .text(app)), ("topic", .text(topic)),
                ("environment", .text(environment)), ("token", .text(token)),
            ])
        case .notification(let frame):
            .object([
                ("event", .text("notification")), ("apns_id", .optional(frame.id)), ("app", .optional(frame.app)),
                ("topic", .optional(frame.topic)), ("channel", .optional(frame.channel)),
                ("push_type", .optional(frame.pushType)),
                ("priority", .optional(frame.priority.map { Int64($0) })),
                ("collapse_id", .optional(frame.collapseID)), ("time", .optional(frame.time)),
                ("payload", .optional(frame.payload)),
            ])
        case .done(let words): .object([("event", .text("done")), ("message", .text(words))])
        case .trouble(let words): .object([("event", .text("trouble")), ("message", .text(words))])
        }
    }

    /// What a person sees of a notification: the payload's beginning, on one line.
    /// - Parameter frame: The notification.
    static func summary(of frame: DeviceFrame) -> String {
        let payload = frame.payload ?? "(bytes)"
        return payload.count > summaryLimit ? "\(payload.prefix(summaryLimit))…" : payload
    }
}
