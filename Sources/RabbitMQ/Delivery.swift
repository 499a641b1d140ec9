/// A delivered message in one buffer: exchange, routing key, property bytes as they were on the wire, then the body.
package struct Delivery: Sendable {
    /// The channel it came on.
    package var channel: UInt16
    /// Its number on that channel, for the acknowledgement.
    package var deliveryTag: UInt64
    /// Whether the broker delivered it before, to anyone.
    package var redelivered: Bool
    /// The buffer that the ranges point into.
    package var bytes: [UInt8]
    /// The exchange it was published to.
    package var exchange: Range<Int>
    /// The routing key it was published with.
    package var routingKey: Range<Int>
    /// The property list, for `MessagePropertyReader`.
    package var properties: Range<Int>
    /// The body; empty if the message is truncated.
    package var body: Range<Int>
    /// The size the body had on the wire, in bytes.
    package var bodySize: UInt64
    /// Whether the body was larger than allowed and therefore dropped.
    package var isTruncated: Bool
}
