import APNSSimulator
import Rig
import Text

/// The content of a device's screen. A value that uses neither terminal nor clock.
struct DevicePicture {
    /// How many notifications the screen shows.
    static let shownLimit = 12
    /// How many tokens the screen shows.
    static let tokenLimit = 8

    private let name: String
    private var connection = "connecting"
    private var connectionInk = Ink.yellow
    private var tokens: [(topic: String, token: String)] = []
    private var notifications: [DeviceFrame] = []
    private var note = ""
    private var isTrouble = false

    /// Starts with an empty screen.
    ///
    /// - Parameter name: What the device is called.
    init(name: String) { self.name = name }

    /// Takes an event in.
    ///
    /// - Parameter event: What happened.
    mutating func take(_ event: DeviceEvent) {
        switch event {
        case .activated(let device): (note, isTrouble) = ("activated as \(device)", false)
        case .online: (connection, connectionInk) = ("online", .green)
        case .offline(let reason, let retry):
            connectionInk = .red
            connection = retry.map { "offline (\(reason)), again in \($0) ms" } ?? "offline (\(reason))"
        case .token(_, let topic, _, let token):
            tokens.removeAll { $0.topic == topic }
            tokens.append((topic, token))
            if tokens.count > Self.tokenLimit { tokens.removeFirst() }
        case .notification(let frame):
            // A real device, too, replaces a notification by a newer one with its collapse id.
            if let collapseID = frame.collapseID {
                notifications.removeAll { $0.collapseID == collapseID && $0.app == frame.app }
            }
            notifications.append(frame)
            if notifications.count > Self.shownLimit { notifications.removeFirst() }
        case .done(let words): (note, isTrouble) = (words, false)
        case .trouble(let words): (note, isTrouble) = ("! \(words)", true)
        }
    }

    /// The screen from top to bottom, the newest notification first.
    ///
    /// - Parameter colour: Whether escape sequences may colour the device's state.
    func lines(colour: Bool) -> [String] {
        // Much of this text comes from other programs, which must not command the terminal.
        func inked(_ text: String, _ ink: Ink) -> String { colour ? ink(text.printable) : text.printable }
        var lines = [""]
        for (topic, token) in tokens { lines += [topic, "  \(token)"] }
        lines.append("")
        for frame in notifications.reversed() {
            let text = "\(frame.app ?? "")  \(DeviceLines.summary(of: frame))"
            lines.append("\(DateTime.write(frame.time ?? 0, withMilliseconds: true))  \(text)")
        }
        if notifications.isEmpty { lines.append("(nothing has arrived yet)") }
        lines.append("")
        let notes = note.split(separator: "\n").map { line in
            isTrouble ? inked(String(line), .red) : String(line).printable
        }
        return ["\(name.printable)  \(inked(connection, connectionInk))"] + lines.map(\.printable) + notes
            + ["", "offline, online, low-power, uninstall, reinstall, restore, quit …"]
    }
}
