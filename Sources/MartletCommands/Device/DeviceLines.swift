import APNSSimulator
import PushModel

/// The JSON lines of a device.
enum DeviceLines {
    /// The most characters of a payload in a summary.
    private static let summaryLimit = 100

    /// The line for an event.
    ///
    /// - Parameter event: What happened.
    /// - Returns: One JSON object.
    static func line(for event: DeviceEvent) -> JSON {
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
                ("topic", .optional(frame.topic)), ("channel", .optional(frame.broadcastChannel)),
                ("push_type", .optional(frame.pushType)),
                ("priority", .optional(frame.priority.map { Int64($0) })),
                ("collapse_id", .optional(frame.collapseID)), ("time", .optional(frame.time)),
                ("payload", .optional(frame.payload)),
            ])
        case .done(let words): .object([("event", .text("done")), ("message", .text(words))])
        case .trouble(let words): .object([("event", .text("trouble")), ("message", .text(words))])
        }
    }

    /// The summary of a notification for people: the first 100 characters of its payload.
    ///
    /// - Parameter frame: The notification.
    static func summary(of frame: DeviceFrame) -> String {
        let payload = frame.payload ?? "(bytes)"
        return payload.count > summaryLimit ? "\(payload.prefix(summaryLimit))…" : payload
    }
}
