import Text

/// A notification on a device as the admin API shows it.
struct NotificationView: Encodable {
    /// The device.
    var device: String
    /// The identifier answered to the provider.
    var id: String
    /// The key of the delivery log.
    var uniqueId: String
    /// The bundle identifier.
    var app: String
    /// The topic.
    var topic: String
    /// The broadcast channel; nil for a push to a device.
    var broadcastChannel: String?
    /// The push type.
    var pushType: String
    /// 10, 5 or 1.
    var priority: Int
    /// Notifications with the same value replace each other.
    var collapseId: String?
    /// What happened to the notification last, in the words of ``DeliveryState``.
    var state: String
    /// When the last event happened, in milliseconds since 1970.
    var time: Int64
    /// Milliseconds since 1970 at which the push was accepted.
    var acceptedAt: Int64
    /// The payload as text; bytes that are not UTF-8 become U+FFFD.
    var payload: String

    private enum CodingKeys: String, CodingKey {
        case device, id, uniqueId, app, topic, pushType, priority, collapseId, state, time, acceptedAt, payload
        case broadcastChannel = "channel"
    }

    /// Describes an entry.
    ///
    /// - Parameter entry: Notification, device, state and time.
    init(_ entry: RecentNotifications.Entry) {
        let notification = entry.notification
        device = entry.device.description
        id = notification.id.description
        uniqueId = notification.uniqueID.description
        app = notification.app
        topic = notification.topic
        broadcastChannel = notification.broadcastChannel
        pushType = notification.type
        priority = notification.priority
        collapseId = notification.collapseID
        state = entry.state.rawValue
        time = entry.time
        acceptedAt = notification.acceptedAt
        payload = String(decoding: notification.payload, as: UTF8.self)
    }
}
