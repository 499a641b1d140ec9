import Text

/// The newest notifications of all devices together, for the admin API's page.
///
/// A value without clock or lock.
struct RecentNotifications: Sendable {
    /// How many are kept.
    static let limit = 5000

    /// One notification on one device.
    struct Entry: Sendable {
        /// The device.
        var device: DeviceID
        /// The notification.
        var notification: StoredNotification
        /// What happened to it last.
        var state: DeliveryState
        /// When that happened, in milliseconds since 1970.
        var time: Int64
    }

    private struct Key: Hashable {
        var uniqueID: UUIDBytes
        var device: DeviceID
    }

    private var entries: [Key: Entry] = [:]
    private var order: [Key] = []
    private var oldest = 0

    /// Notes what happened.
    ///
    /// - Parameter entry: Notification, device, state and time.
    mutating func note(_ entry: Entry) {
        let key = Key(uniqueID: entry.notification.uniqueID, device: entry.device)
        if entries.updateValue(entry, forKey: key) == nil { order.append(key) }
        guard order.count - oldest > Self.limit else { return }
        entries[order[oldest]] = nil
        oldest += 1
        if oldest > Self.limit {
            order.removeFirst(oldest)
            oldest = 0
        }
    }

    /// The newest notifications of a device, oldest first.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - count: How many at most.
    /// - Returns: Copies.
    func newest(of device: DeviceID, count: Int = 50) -> [Entry] {
        order[oldest...].reversed().lazy.filter { $0.device == device }.prefix(count).compactMap { entries[$0] }
            .reversed()
    }
}
