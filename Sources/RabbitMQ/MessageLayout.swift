/// How a message is laid out in frames: its sizes, known before any of it is written (AMQP 0-9-1, 4.2.6).
struct MessageLayout: Equatable {
    /// How many bytes precede the properties in a content header: class, weight and body size.
    static let contentHeadSize = 12

    /// The size of basic.publish with its number, in bytes.
    let methodSize: Int
    /// The size of the property list, in bytes.
    let propertySize: Int
    /// The largest part of the body in one frame, in bytes.
    let fragmentSize: Int
    /// An upper bound of the size of all frames, in bytes.
    let totalSize: Int

    /// Lays a message out.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - frameMax: The negotiated limit of a frame, in bytes.
    /// - Throws: `invalidMessage` if it cannot be written in AMQP.
    init(_ message: borrowing OutgoingMessage, frameMax: Int) throws(AMQPError) {
        propertySize = message.propertyBytes
        if let flaw = message.flaw {
            throw AMQPError(.invalidMessage, "\(flaw) is longer than 255 bytes")
        }
        guard propertySize + Self.contentHeadSize + Frame.overhead <= frameMax else {
            throw AMQPError(
                .invalidMessage,
                "the properties take \(propertySize) bytes, over the limit of "
                    + "\(frameMax - Self.contentHeadSize - Frame.overhead)")
        }
        methodSize = 4 + 2 + 1 + message.exchange.count + 1 + message.routingKey.count + 1
        fragmentSize = frameMax - Frame.overhead
        let frames = 3 + message.body.count / fragmentSize
        totalSize =
            methodSize + Self.contentHeadSize + propertySize + message.body.count + frames * Frame.overhead
    }
}
