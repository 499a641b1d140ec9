import Text

/// What happened to each notification for an issued device token, by its `apns-unique-id`.
///
/// A value without clock or lock. See Apple, "Testing notifications using the Push Notification Console": the log is
/// kept for seven days.
struct DeliveryLog: Sendable {
    /// How long an entry is kept, in milliseconds: seven days. Older entries go when the next story begins.
    static let retention: Int64 = 7 * 86_400_000
    /// How many entries are kept. A new entry beyond the limit removes the oldest one.
    static let entryLimit = 100_000
    /// How many events an entry keeps. Later events are not recorded.
    static let eventLimit = 32

    /// One event.
    struct Event: Equatable, Sendable {
        /// What happened.
        var state: DeliveryState
        /// The device it happened for. A broadcast has events for several devices.
        var device: DeviceID
        /// Milliseconds since 1970.
        var time: Int64
    }

    /// One notification's story.
    struct Entry: Equatable, Sendable {
        /// The identifier answered to the provider.
        var id: UUIDBytes
        /// The topic.
        var topic: String
        /// Milliseconds since 1970 at which the notification was accepted.
        var acceptedAt: Int64
        /// What happened, in order.
        var events: [Event]
    }

    private var entries: [UUIDBytes: Entry] = [:]
    private var order: [UUIDBytes] = []
    private var oldest = 0

    /// Writes an event down.
    ///
    /// - Parameters:
    ///   - state: What happened.
    ///   - notification: To which notification.
    ///   - device: For which device.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The story that begins with the event; nil where the event continues a story.
    @discardableResult
    mutating func record(
        _ state: DeliveryState, of notification: StoredNotification, for device: DeviceID, now: Int64
    ) -> Entry? {
        let event = Event(state: state, device: device, time: now)
        guard entries[notification.uniqueID] == nil else {
            add(event, to: notification.uniqueID)
            return nil
        }
        let entry = Entry(
            id: notification.id, topic: notification.topic, acceptedAt: notification.acceptedAt, events: [event])
        begin(notification.uniqueID, entry)
        return entry
    }

    /// Begins a notification's story.
    ///
    /// - Parameters:
    ///   - uniqueID: The value of `apns-unique-id`.
    ///   - entry: The story so far. The time of its last event counts as the present.
    mutating func begin(_ uniqueID: UUIDBytes, _ entry: Entry) {
        drop(before: (entry.events.last?.time ?? entry.acceptedAt) - Self.retention)
        if entries.updateValue(entry, forKey: uniqueID) == nil { order.append(uniqueID) }
    }

    /// Continues a notification's story.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - uniqueID: The value of `apns-unique-id`. Nothing happens where it has no story.
    mutating func add(_ event: Event, to uniqueID: UUIDBytes) {
        guard let count = entries[uniqueID]?.events.count, count < Self.eventLimit else { return }
        entries[uniqueID]?.events.append(event)
    }

    /// Writes the whole log as lines of a journal.
    ///
    /// - Parameter output: Receives the lines.
    func append(to output: inout [UInt8]) {
        for uniqueID in order[oldest...] {
            guard let entry = entries[uniqueID] else { continue }
            for (index, event) in entry.events.enumerated() {
                JournalLine.append(event, of: uniqueID, beginning: index == 0 ? entry : nil, to: &output)
            }
        }
    }

    /// Finds a notification's story.
    ///
    /// - Parameter uniqueID: The value of `apns-unique-id`.
    /// - Returns: Its story; nil where the log has none.
    func entry(_ uniqueID: UUIDBytes) -> Entry? { entries[uniqueID] }

    private mutating func drop(before time: Int64) {
        while oldest < order.count {
            let isOld = entries[order[oldest]].map { $0.acceptedAt < time } ?? true
            guard isOld || order.count - oldest >= Self.entryLimit else { break }
            entries[order[oldest]] = nil
            oldest += 1
        }
        // Moves the rest down only when at least half is empty, so that the average cost stays small.
        if oldest > order.count / 2, oldest > 1000 {
            order.removeFirst(oldest)
            oldest = 0
        }
    }
}
