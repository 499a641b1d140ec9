import Text

/// A delivery log entry as the admin API shows it.
struct DeliveryView: Encodable {
    /// One event.
    struct Event: Encodable {
        /// What happened.
        var state: String
        /// The device it happened for.
        var device: String
        /// Milliseconds since 1970.
        var time: Int64
    }

    /// The key of the delivery log.
    var uniqueId: String
    /// The identifier answered to the provider.
    var id: String
    /// The topic.
    var topic: String
    /// What happened, in order.
    var events: [Event]

    /// Describes an entry.
    ///
    /// - Parameters:
    ///   - uniqueID: Its key.
    ///   - entry: The entry.
    init(_ uniqueID: UUIDBytes, _ entry: DeliveryLog.Entry) {
        uniqueId = uniqueID.description
        id = entry.id.description
        topic = entry.topic
        events = entry.events.map {
            Event(state: $0.state.rawValue, device: $0.device.description, time: $0.time)
        }
    }
}
