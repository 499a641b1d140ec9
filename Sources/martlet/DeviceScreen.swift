import APNSSimulator
import EventLoop
import Glibc
import PushModel
import Synchronization

/// Shows what happens to a device: as a screen on a terminal, as JSON lines elsewhere. Safe from any thread.
final class DeviceScreen: Sendable {
    /// How many notifications the screen shows.
    static let shownLimit = 12

    private struct State {
        var connection = "connecting"
        var tokens: [(topic: String, token: String)] = []
        var notifications: [DeviceFrame] = []
        var note = ""
    }

    private let name: String
    private let isDrawn: Bool
    private let state = Mutex(State())

    /// Makes a screen.
    /// - Parameters:
    ///   - name: What the device is called.
    ///   - isDrawn: Whether standard output is a terminal to draw on.
    init(name: String, isDrawn: Bool) {
        self.name = name
        self.isDrawn = isDrawn
    }

    /// Shows an event.
    /// - Parameter event: What happened.
    func show(_ event: DeviceEvent) {
        guard isDrawn else {
            Console.data(DeviceLines.line(for: event).bytes)
            return Console.flush()
        }
        let lines = state.withLock { state in
            Self.take(event, into: &state)
            return Self.draw(name, state)
        }
        Console.data("\u{1b}[2J\u{1b}[H" + lines.joined(separator: "\r\n"))
    }

    /// Leaves the terminal as it was.
    func finish() { Console.flush() }

    private static func take(_ event: DeviceEvent, into state: inout State) {
        switch event {
        case .activated(let device): state.note = "activated as \(device)"
        case .online: state.connection = "online"
        case .offline(let reason, let retry):
            state.connection = retry.map { "offline (\(reason)), again in \($0) ms" } ?? "offline (\(reason))"
        case .token(_, let topic, _, let token):
            state.tokens.removeAll { $0.topic == topic }
            state.tokens.append((topic, token))
        case .notification(let frame):
            // What merges on a real device merges here.
            if let collapseID = frame.collapseID {
                state.notifications.removeAll { $0.collapseID == collapseID && $0.app == frame.app }
            }
            state.notifications.append(frame)
            if state.notifications.count > shownLimit { state.notifications.removeFirst() }
        case .done(let words): state.note = words
        case .trouble(let words): state.note = "! \(words)"
        }
    }

    private static func draw(_ name: String, _ state: State) -> [String] {
        var lines = ["\(printable(name))  \(state.connection)", ""]
        for (topic, token) in state.tokens { lines += ["\(topic)", "  \(token)"] }
        lines.append("")
        for frame in state.notifications.reversed() {
            let time = TimeText.moment(frame.time ?? 0)
            let text = DeviceLines.summary(of: frame)
            lines.append("\(time)  \(printable(frame.app ?? ""))  \(printable(text))")
        }
        if state.notifications.isEmpty { lines.append("(nothing has arrived yet)") }
        lines += ["", printable(state.note), "", "offline, online, low-power, uninstall, reinstall, restore, quit …"]
        return lines
    }

    /// Control characters in a payload must not reach the terminal.
    private static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
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
