/// What happened to each notification for an issued device token, by its `apns-unique-id`.
///
/// A value without clock or lock. See Apple, "Testing notifications using the Push Notification Console": the log is
/// kept for seven days.
struct DeliveryLog: Sendable {
    /// How long an entry is kept, in milliseconds: seven days.
    static let retention: Int64 = 7 * 86_400_000
    /// How many entries are kept; the oldest give way.
    static let entryLimit = 100_000
    /// How many events an entry keeps.
    static let eventLimit = 32

    /// One event.
    struct Event: Equatable, Sendable {
        /// What happened.
        var state: DeliveryState
        /// The device it happened for; a broadcast has several.
        var device: DeviceID
        /// Milliseconds since 1970.
        var time: Int64
    }

    /// One notification's story.
    struct Entry: Equatable, Sendable {
        /// The identifier answered to the provider.
        var id: MessageID
        /// The topic.
        var topic: String
        /// Milliseconds since 1970 at which the notification was accepted.
        var acceptedAt: Int64
        /// What happened, in order.
        var events: [Event]
    }

    private var entries: [MessageID: Entry] = [:]
    private var order: [MessageID] = []
    private var oldest = 0

    /// Writes an event down.
    ///
    /// - Parameters:
    ///   - state: What happened.
    ///   - notification: To which notification.
    ///   - device: For which device.
    ///   - now: Milliseconds since 1970.
    mutating func record(_ state: DeliveryState, of notification: StoredNotification, for device: DeviceID, now: Int64)
    {
        let event = Event(state: state, device: device, time: now)
        if entries[notification.uniqueID] == nil {
            drop(before: now - Self.retention)
            order.append(notification.uniqueID)
            entries[notification.uniqueID] = Entry(
                id: notification.id, topic: notification.topic, acceptedAt: notification.acceptedAt, events: [event])
        } else if let count = entries[notification.uniqueID]?.events.count, count < Self.eventLimit {
            entries[notification.uniqueID]?.events.append(event)
        }
    }

    /// Finds a notification's story.
    ///
    /// - Parameter uniqueID: The value of `apns-unique-id`.
    /// - Returns: Its story; nil where the log has none.
    func entry(_ uniqueID: MessageID) -> Entry? { entries[uniqueID] }

    private mutating func drop(before time: Int64) {
        while oldest < order.count {
            let isOld = entries[order[oldest]].map { $0.acceptedAt < time } ?? true
            guard isOld || order.count - oldest >= Self.entryLimit else { break }
            entries[order[oldest]] = nil
            oldest += 1
        }
        // Moving the rest down only now and then keeps that cheap.
        if oldest > order.count / 2, oldest > 1000 {
            order.removeFirst(oldest)
            oldest = 0
        }
    }
}
