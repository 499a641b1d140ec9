import APNSSimulator
import Rig

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
