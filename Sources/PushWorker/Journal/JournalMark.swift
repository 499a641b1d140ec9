internal import PushModel
internal import RabbitMQ

/// What all of a message's notifications have in common in the journal: a hash of body and id, which can be had without
/// reading the body.
enum JournalMark {
    /// The mark of a message that stands in a buffer.
    static func make(_ bytes: borrowing [UInt8], body: Range<Int>, id: Range<Int>) -> UInt64 {
        var hash = SHA1()
        hash.update(.contractNamespace)
        hash.update(decimal: body.count)
        hash.update(UInt8(ascii: "/"))
        hash.update(bytes.span.extracting(body))
        hash.update(bytes.span.extracting(id))
        return UUIDBytes(v5: hash).high
    }

    /// The mark of a delivery that was not read; nil where its id is in its body, if anywhere.
    static func make(unread delivery: borrowing Delivery) -> UInt64? {
        guard !delivery.isTruncated,
            let id = try? MessagePropertyReader(delivery.bytes, delivery.properties).messageID, !id.isEmpty
        else { return nil }
        return make(delivery.bytes, body: delivery.body, id: id)
    }
}
