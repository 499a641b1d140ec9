/// Puts one message of one channel together from its method, header and body frames.
///
/// RabbitMQ never interleaves two messages on one channel (AMQP 0-9-1, 4.2.6); a peer that does is in error.
struct ContentAssembly {
    /// What the method announced.
    enum Kind: Equatable {
        case delivery(tag: UInt64, redelivered: Bool)
        case returned(code: UInt16)
    }

    private enum Step { case idle, header, body }

    private var step = Step.idle
    /// What is being put together.
    private(set) var kind = Kind.returned(code: 0)
    /// Exchange and routing key, until the header says how large the message is. The next message uses the same memory.
    private var head: [UInt8] = []
    private var exchangeCount = 0
    private var bytes: [UInt8] = []
    private var propertiesEnd = 0
    private var bodySize: UInt64 = 0
    private var bodyLeft: UInt64 = 0
    private var isTruncated = false

    /// Begins a message.
    ///
    /// - Parameters:
    ///   - kind: What the method announced.
    ///   - exchange: The exchange's name.
    ///   - routingKey: The routing key.
    /// - Throws: `protocolViolation` within another message.
    mutating func begin(
        _ kind: Kind, exchange: UnsafeRawBufferPointer, routingKey: UnsafeRawBufferPointer
    ) throws(AMQPError) {
        guard case .idle = step else { throw Self.violation("a message began before the last one was complete") }
        self.kind = kind
        head.removeAll(keepingCapacity: true)
        head.append(contentsOf: exchange)
        exchangeCount = exchange.count
        head.append(contentsOf: routingKey)
        step = .header
    }

    /// Takes the header frame.
    ///
    /// - Parameters:
    ///   - properties: The property list as it is on the wire.
    ///   - bodySize: The announced size of the body; any value.
    ///   - limit: The largest body that is kept, in bytes. The body of a returned message is never kept.
    /// - Returns: Whether the message is complete.
    /// - Throws: `protocolViolation` if no message was begun.
    mutating func header(
        properties: UnsafeRawBufferPointer, bodySize: UInt64, limit: Int
    ) throws(AMQPError) -> Bool {
        guard case .header = step else { throw Self.violation("a header frame came without a message") }
        var kept = bodySize <= UInt64(limit) ? Int(bodySize) : 0
        isTruncated = bodySize > UInt64(limit)
        if case .returned = kind {
            kept = 0
            isTruncated = true
        }
        bytes = []
        bytes.reserveCapacity(head.count + properties.count + kept)
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: properties)
        propertiesEnd = bytes.count
        self.bodySize = bodySize
        bodyLeft = bodySize
        step = .body
        return bodySize == 0
    }

    /// Takes a body frame.
    ///
    /// - Parameter fragment: Its payload.
    /// - Returns: Whether the message is complete.
    /// - Throws: `protocolViolation` without a header, or beyond the announced size.
    mutating func body(_ fragment: UnsafeRawBufferPointer) throws(AMQPError) -> Bool {
        guard case .body = step else { throw Self.violation("a body frame came without a header") }
        guard UInt64(fragment.count) <= bodyLeft else { throw Self.violation("a body is longer than announced") }
        bodyLeft -= UInt64(fragment.count)
        if !isTruncated { bytes.append(contentsOf: fragment) }
        return bodyLeft == 0
    }

    /// Takes the complete message and makes room for the next.
    ///
    /// - Parameter channel: The channel, for the delivery.
    /// - Returns: The message. The tag of a returned message means nothing.
    mutating func take(channel: UInt16) -> Delivery {
        step = .idle
        let taken = bytes
        bytes = []
        var tag: UInt64 = 0
        var redelivered = false
        if case .delivery(let number, let again) = kind {
            tag = number
            redelivered = again
        }
        return Delivery(
            channel: channel, deliveryTag: tag, redelivered: redelivered, bytes: taken,
            exchange: 0..<exchangeCount, routingKey: exchangeCount..<head.count,
            properties: head.count..<propertiesEnd, body: propertiesEnd..<taken.count,
            bodySize: bodySize, isTruncated: isTruncated && bodySize > 0)
    }

    /// Forgets a message that will not be completed.
    mutating func abandon() {
        step = .idle
        bytes = []
    }

    private static func violation(_ message: String) -> AMQPError { AMQPError(.protocolViolation, message) }
}
