import PushModel
import RabbitMQ
import TLS
import Text

/// The part of the journal's key that all notifications of a message share: a hash of body and id. The JSON of the body
/// is not read for it.
enum JournalMark {
    /// The mark of a message whose body and id stand in a buffer.
    static func make(_ bytes: borrowing [UInt8], body: Range<Int>, id: Range<Int>) -> UInt64 {
        var hash = SHA1()
        hash.update(.contractNamespace)
        hash.update(decimal: body.count)
        hash.update(UInt8(ascii: "/"))
        hash.update(bytes.span.extracting(body))
        hash.update(bytes.span.extracting(id))
        return UUIDBytes(v5: hash).high
    }

    /// The mark of a delivery that was not read; nil if its body was too large to be kept, or if no id can be read from
    /// its properties.
    static func make(unread delivery: borrowing Delivery) -> UInt64? {
        guard !delivery.isTruncated,
            let id = try? MessagePropertyReader(delivery.bytes, delivery.properties).messageID, !id.isEmpty
        else { return nil }
        return make(delivery.bytes, body: delivery.body, id: id)
    }

    /// The mark of a message that goes back to its queue, and may come again without being read. Without a message id
    /// among its properties, the body alone counts.
    static func make(returned bytes: borrowing [UInt8], _ properties: Range<Int>, body: Range<Int>) -> UInt64 {
        let id = try? MessagePropertyReader(bytes, properties).messageID
        return make(bytes, body: body, id: id ?? 0..<0)
    }
}
