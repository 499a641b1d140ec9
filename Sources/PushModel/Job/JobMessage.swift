/// A delivered message as the decoder needs it: one buffer, and where the parts stand in it.
package struct JobMessage: Sendable {
    /// The buffer that holds all the ranges below.
    package var bytes: [UInt8]
    /// The routing key the message came with.
    package var routingKey: Range<Int>
    /// The property `content_type`.
    package var contentType: Range<Int>?
    /// The property `content_encoding`.
    package var contentEncoding: Range<Int>?
    /// The property `message_id`.
    package var messageID: Range<Int>?
    /// The property `correlation_id`.
    package var correlationID: Range<Int>?
    /// The property `reply_to`.
    package var replyTo: Range<Int>?
    /// The property `timestamp`, in seconds since 1970 as AMQP has it.
    package var timestamp: UInt64?
    /// The body as delivered.
    package var body: Range<Int>
    /// Whether the broker says it may have delivered the message before.
    package var redelivered: Bool
    /// How it came to its queue.
    package var way: DeliveryWay
    /// The headers that matter, collected one by one.
    package var headers: JobHeaders

    /// A message from its parts; properties that are absent may be left out.
    package init(
        bytes: [UInt8], routingKey: Range<Int>, contentType: Range<Int>? = nil, contentEncoding: Range<Int>? = nil,
        messageID: Range<Int>? = nil, correlationID: Range<Int>? = nil, replyTo: Range<Int>? = nil,
        timestamp: UInt64? = nil, body: Range<Int>, redelivered: Bool = false, way: DeliveryWay = .published,
        headers: JobHeaders = JobHeaders()
    ) {
        self.bytes = bytes
        self.routingKey = routingKey
        self.contentType = contentType
        self.contentEncoding = contentEncoding
        self.messageID = messageID
        self.correlationID = correlationID
        self.replyTo = replyTo
        self.timestamp = timestamp
        self.body = body
        self.redelivered = redelivered
        self.way = way
        self.headers = headers
    }
}
