import FoundationEssentials
import Text

/// A line of the journal: a notification, its place at a device, or an event of the delivery log.
struct JournalLine: Decodable {
    /// A notification; later lines name it by its ``StoredNotification/uniqueID``.
    var notification: StoredNotification?
    /// The notification that waits for ``device`` from this line on.
    var keep: UUIDBytes?
    /// What happened to ``unique`` at ``device``.
    var event: DeliveryState?
    /// The notification of an event.
    var unique: UUIDBytes?
    /// The device.
    var device: UUIDBytes?
    /// When it happened, in milliseconds since 1970.
    var time: Int64?
    /// The identifier answered, in the first event of a notification.
    var id: UUIDBytes?
    /// The topic, in the first event of a notification.
    var topic: String?
    /// Milliseconds since 1970 at which the notification was accepted, in its first event.
    var accepted: Int64?

    /// Writes a notification.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - output: Receives the line.
    static func append(_ notification: StoredNotification, to output: inout [UInt8]) {
        // Numbers, strings and bytes are always encodable.
        guard let json = try? JSONEncoder().encode(notification) else { return }
        output.append(contentsOf: "{\"notification\":".utf8)
        output.append(contentsOf: json)
        output.append(contentsOf: "}\n".utf8)
    }

    /// Writes that a notification waits for a device.
    ///
    /// - Parameters:
    ///   - uniqueID: The notification, written before.
    ///   - device: The device.
    ///   - output: Receives the line.
    static func append(keeping uniqueID: UUIDBytes, for device: DeviceID, to output: inout [UInt8]) {
        output.append(contentsOf: "{\"keep\":\"".utf8)
        uniqueID.append(to: &output)
        output.append(contentsOf: "\",\"device\":\"".utf8)
        device.value.append(to: &output)
        output.append(contentsOf: "\"}\n".utf8)
    }

    /// Writes an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - uniqueID: The notification it happened to.
    ///   - entry: The story it begins; nil where it is not the first event.
    ///   - output: Receives the line.
    static func append(
        _ event: DeliveryLog.Event, of uniqueID: UUIDBytes, beginning entry: DeliveryLog.Entry?,
        to output: inout [UInt8]
    ) {
        // The states are constants that need no escapes. The topic is escaped.
        output.append(contentsOf: "{\"event\":\"\(event.state.rawValue)\",\"unique\":\"".utf8)
        uniqueID.append(to: &output)
        output.append(contentsOf: "\",\"device\":\"".utf8)
        event.device.value.append(to: &output)
        output.append(contentsOf: "\",\"time\":\(event.time)".utf8)
        if let entry {
            output.append(contentsOf: ",\"id\":\"".utf8)
            entry.id.append(to: &output)
            output.append(contentsOf: "\",\"topic\":\"".utf8)
            JSONEscaping.append(entry.topic.utf8, to: &output)
            output.append(contentsOf: "\",\"accepted\":\(entry.acceptedAt)".utf8)
        }
        output.append(contentsOf: "}\n".utf8)
    }
}
