import Text

/// The content of a journal: the delivery log and the notifications that wait.
struct KeptNotifications {
    /// What happened to notifications.
    private(set) var log = DeliveryLog()
    private var contents: [UUIDBytes: StoredNotification] = [:]
    private var kept: [DeviceID: [UUIDBytes]] = [:]

    /// Starts with nothing.
    init() {}

    /// The notifications that wait for each device, in the order of the journal.
    var waiting: [DeviceID: [StoredNotification]] {
        kept.mapValues { $0.compactMap { contents[$0] } }.filter { !$0.value.isEmpty }
    }

    /// Adds the content of a line.
    ///
    /// - Parameter line: The line.
    /// - Returns: Whether the line is complete and names a known notification.
    mutating func take(_ line: JournalLine) -> Bool {
        if let notification = line.notification {
            contents[notification.uniqueID] = notification
            return true
        }
        guard let device = line.device.map({ DeviceID($0) }) else { return false }
        if let uniqueID = line.keep {
            guard let content = contents[uniqueID] else { return false }
            kept[device, default: []].append(uniqueID)
            // A crash may have come after this line was written and before its event was.
            if log.entry(uniqueID) == nil {
                log.record(.received, of: content, for: device, now: content.acceptedAt)
            }
            return true
        }
        guard let state = line.event, let uniqueID = line.unique, let time = line.time else { return false }
        if state.isFinal { kept[device]?.removeAll { $0 == uniqueID } }
        let event = DeliveryLog.Event(state: state, device: device, time: time)
        if let id = line.id, let topic = line.topic, let accepted = line.accepted {
            log.begin(uniqueID, DeliveryLog.Entry(id: id, topic: topic, acceptedAt: accepted, events: [event]))
        } else {
            log.add(event, to: uniqueID)
        }
        return true
    }
}
