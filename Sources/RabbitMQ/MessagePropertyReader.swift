/// Where the basic properties of a message stand in its buffer (AMQP 0-9-1, 4.2.6.1 and class basic).
///
/// It reads the wire form itself, so that a delivery needs one buffer and no objects. For any bytes it returns or
/// throws. It allocates nothing unless it throws.
package struct MessagePropertyReader: Sendable {
    /// The MIME type of the body.
    package private(set) var contentType: Range<Int>?
    /// The encoding of the body.
    package private(set) var contentEncoding: Range<Int>?
    /// The content of the header table, for `FieldTableReader`.
    package private(set) var headers: Range<Int>?
    /// 1 for transient, 2 for persistent.
    package private(set) var deliveryMode: UInt8?
    /// The priority, 0 to 9 by the specification.
    package private(set) var priority: UInt8?
    /// What a reply refers to.
    package private(set) var correlationID: Range<Int>?
    /// Where replies go.
    package private(set) var replyTo: Range<Int>?
    /// The time to live, milliseconds as text.
    package private(set) var expiration: Range<Int>?
    /// The producer's name for the message.
    package private(set) var messageID: Range<Int>?
    /// The producer's time stamp, seconds since 1970.
    package private(set) var timestamp: UInt64?
    /// The producer's name for the kind of message.
    package private(set) var type: Range<Int>?
    /// The user that published, checked by the broker.
    package private(set) var userID: Range<Int>?
    /// The producer's name for itself.
    package private(set) var appID: Range<Int>?

    /// Reads a property list.
    ///
    /// - Parameters:
    ///   - bytes: The buffer.
    ///   - range: Where the property flags begin and the last property ends.
    /// - Throws: `malformedTable` if the list is cut off, too long, or of a later protocol.
    package init(_ bytes: borrowing [UInt8], _ range: Range<Int>) throws(AMQPError) {
        var cursor = try WireCursor(range, in: bytes)
        let flags = try cursor.number(UInt16.self, bytes)
        guard flags & 1 == 0 else {
            throw AMQPError(.malformedTable, "the message has properties unknown to AMQP 0-9-1")
        }
        if flags & 1 << 15 != 0 { contentType = try cursor.shortString(bytes) }
        if flags & 1 << 14 != 0 { contentEncoding = try cursor.shortString(bytes) }
        if flags & 1 << 13 != 0 { headers = try cursor.longString(bytes) }
        if flags & 1 << 12 != 0 { deliveryMode = try cursor.byte(bytes) }
        if flags & 1 << 11 != 0 { priority = try cursor.byte(bytes) }
        if flags & 1 << 10 != 0 { correlationID = try cursor.shortString(bytes) }
        if flags & 1 << 9 != 0 { replyTo = try cursor.shortString(bytes) }
        if flags & 1 << 8 != 0 { expiration = try cursor.shortString(bytes) }
        if flags & 1 << 7 != 0 { messageID = try cursor.shortString(bytes) }
        if flags & 1 << 6 != 0 { timestamp = try cursor.number(UInt64.self, bytes) }
        if flags & 1 << 5 != 0 { type = try cursor.shortString(bytes) }
        if flags & 1 << 4 != 0 { userID = try cursor.shortString(bytes) }
        if flags & 1 << 3 != 0 { appID = try cursor.shortString(bytes) }
        if flags & 1 << 2 != 0 { _ = try cursor.shortString(bytes) }
        guard cursor.isAtEnd else {
            throw AMQPError(.malformedTable, "\(cursor.end - cursor.offset) bytes follow the last property")
        }
    }
}
