import PushModel
import Text

/// A result as a consumer gets it: as a message of its own, or together with others.
package struct ReceivedResult {
    /// What it says.
    package var record: ResultRecord
    /// Its `message_id`.
    package var messageID: String
    /// Its body. A result that came together with others gets a body made from that message's body.
    package var body: [UInt8]

    /// What commands print with `--output json`: the body with its `message_id` as a field, as in a message of several
    /// results. In a message of its own, a result's `message_id` is a property.
    package var line: [UInt8] {
        guard !isEntry, let start = body.firstIndex(of: UInt8(ascii: "{")) else { return body }
        let field = "{\"\(BatchField.messageID.name)\":\(JSONEscaping.quoted(messageID)),"
        return Array(field.utf8) + body[(start + 1)...]
    }

    /// Whether it came together with others.
    private var isEntry = false

    /// Reads a message.
    ///
    /// - Parameter message: The message.
    /// - Returns: Its results, in their order; empty if the message holds no results.
    package static func read(_ message: BrokerMessage) -> [ReceivedResult] {
        read(message.body, messageID: message.messageID)
    }

    /// Reads the body of a message that has this `message_id`.
    static func read(_ body: [UInt8], messageID: String) -> [ReceivedResult] {
        // A message of several results also has an outcome, but no index, so it is not read as one record.
        if let record = ResultRecord.parse(body) {
            return [ReceivedResult(record: record, messageID: messageID, body: body)]
        }
        let entries = ResultBatchReader.entries(in: body) ?? []
        let results = entries.compactMap { entry in
            ResultRecord.parse(entry.body).map {
                ReceivedResult(record: $0, messageID: entry.messageID, body: entry.body, isEntry: true)
            }
        }
        return results.count == entries.count ? results : []
    }
}
