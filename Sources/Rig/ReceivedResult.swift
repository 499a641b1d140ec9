import PushModel

/// A result as a consumer gets it: as a message of its own, or together with others.
package struct ReceivedResult {
    /// What it says.
    package var record: ResultRecord
    /// Its `message_id`.
    package var messageID: String
    /// Its body. That of a result which came together with others is made from the message's.
    package var body: [UInt8]

    /// Reads a message.
    ///
    /// - Parameter message: The message.
    /// - Returns: Its results, in their order; empty for another message.
    package static func read(_ message: BrokerMessage) -> [ReceivedResult] {
        read(message.body, messageID: message.messageID)
    }

    /// Reads the body of a message that has this `message_id`.
    static func read(_ body: [UInt8], messageID: String) -> [ReceivedResult] {
        // Several results have an outcome at their top, too, but no index.
        if let record = ResultRecord.parse(body) {
            return [ReceivedResult(record: record, messageID: messageID, body: body)]
        }
        let entries = ResultBatchReader.entries(in: body) ?? []
        let results = entries.compactMap { entry in
            ResultRecord.parse(entry.body).map {
                ReceivedResult(record: $0, messageID: entry.messageID, body: entry.body)
            }
        }
        return results.count == entries.count ? results : []
    }
}
