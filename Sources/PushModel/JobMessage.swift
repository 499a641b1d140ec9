/// The value of an AMQP header, as far as jobs need it; ranges point into the message's buffer.
package enum HeaderValue: Sendable, Equatable {
    /// A text value.
    case text(Range<Int>)
    /// A value of raw bytes.
    case bytes(Range<Int>)
    /// A whole number of any width.
    case integer(Int64)
    /// Any other kind: a float, a table, a timestamp and so on. A void value is not handed over at all.
    case other
}

/// A delivered message as the decoder wants it: one buffer and where things are in it.
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
    /// The property `timestamp`, in seconds since 1970.
    package var timestamp: UInt64?
    /// The body as delivered.
    package var body: Range<Int>
    /// Whether the broker says it may have delivered the message before.
    package var redelivered: Bool
    /// The headers that matter, collected one by one.
    package var headers: JobHeaders

    /// A message from its parts; properties that are absent may be left out.
    package init(
        bytes: [UInt8], routingKey: Range<Int>, contentType: Range<Int>? = nil, contentEncoding: Range<Int>? = nil,
        messageID: Range<Int>? = nil, correlationID: Range<Int>? = nil, replyTo: Range<Int>? = nil,
        timestamp: UInt64? = nil, body: Range<Int>, redelivered: Bool = false, headers: JobHeaders = JobHeaders()
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
        self.headers = headers
    }
}

/// The headers of a job that mean something, each as it stood on the wire.
package struct JobHeaders: Sendable {
    /// The value of `HeaderName.deviceToken`.
    var deviceToken: HeaderValue?
    /// The value of `HeaderName.topic`.
    var topic: HeaderValue?
    /// The value of `HeaderName.pushType`.
    var pushType: HeaderValue?
    /// The value of `HeaderName.priority`.
    var priority: HeaderValue?
    /// The value of `HeaderName.expiration`.
    var expiration: HeaderValue?
    /// The value of `HeaderName.collapseID`.
    var collapseID: HeaderValue?
    /// The value of `HeaderName.apnsID`.
    var apnsID: HeaderValue?
    /// The value of `HeaderName.channelID`.
    var channelID: HeaderValue?
    /// The value of `HeaderName.operation`.
    var operation: HeaderValue?
    /// The value of `HeaderName.deadline`.
    var deadline: HeaderValue?
    /// The value of `HeaderName.onUnknown`.
    var onUnknown: HeaderValue?
    /// The value of `HeaderName.reference`.
    var reference: HeaderValue?
    /// The value of `HeaderName.traceparent`.
    var traceparent: HeaderValue?
    /// The value of `HeaderName.enqueuedAt`.
    var enqueuedAt: HeaderValue?
    /// The value of `HeaderName.replay`.
    var replay: HeaderValue?
    /// The value of `HeaderName.version`.
    var version: HeaderValue?
    /// The value of `HeaderName.attempt`.
    var attempt: HeaderValue?
    /// The value of `HeaderName.firstAttemptAt`.
    var firstAttemptAt: HeaderValue?
    /// The value of `HeaderName.indexes`.
    var indexes: HeaderValue?
    /// The value of `HeaderName.duplicate`.
    var duplicate: HeaderValue?
    /// Whether one of the headers above came twice.
    var hasDuplicates = false
    /// Headers that begin with `apns-` and mean nothing to this version.
    var unknownCount = 0

    /// No headers.
    package init() {}

    /// Takes in one header; those that mean nothing here are passed over.
    /// - Parameters:
    ///   - name: Where the header's name stands in `bytes`.
    ///   - value: Its value, with ranges into `bytes`.
    ///   - bytes: The message's buffer.
    package mutating func take(name: Range<Int>, value: HeaderValue, in bytes: borrowing [UInt8]) {
        let name = bytes.span.extracting(name)
        // Names are told apart by length first: most lengths leave one or two candidates.
        switch name.count {
        case 7 where name.matches(HeaderName.apnsID): Self.put(value, &apnsID, &hasDuplicates)
        case 8 where name.matches(HeaderName.version): Self.put(value, &version, &hasDuplicates)
        case 10 where name.matches(HeaderName.topic): Self.put(value, &topic, &hasDuplicates)
        case 11 where name.matches(HeaderName.traceparent): Self.put(value, &traceparent, &hasDuplicates)
        case 13 where name.matches(HeaderName.priority): Self.put(value, &priority, &hasDuplicates)
        case 13 where name.matches(HeaderName.replay): Self.put(value, &replay, &hasDuplicates)
        case 14 where name.matches(HeaderName.pushType): Self.put(value, &pushType, &hasDuplicates)
        case 14 where name.matches(HeaderName.attempt): Self.put(value, &attempt, &hasDuplicates)
        case 14 where name.matches(HeaderName.indexes): Self.put(value, &indexes, &hasDuplicates)
        case 15 where name.matches(HeaderName.expiration): Self.put(value, &expiration, &hasDuplicates)
        case 15 where name.matches(HeaderName.deadline): Self.put(value, &deadline, &hasDuplicates)
        case 15 where name.matches(HeaderName.channelID): Self.put(value, &channelID, &hasDuplicates)
        case 16 where name.matches(HeaderName.operation): Self.put(value, &operation, &hasDuplicates)
        case 16 where name.matches(HeaderName.collapseID): Self.put(value, &collapseID, &hasDuplicates)
        case 16 where name.matches(HeaderName.reference): Self.put(value, &reference, &hasDuplicates)
        case 16 where name.matches(HeaderName.duplicate): Self.put(value, &duplicate, &hasDuplicates)
        case 17 where name.matches(HeaderName.deviceToken): Self.put(value, &deviceToken, &hasDuplicates)
        case 17 where name.matches(HeaderName.onUnknown): Self.put(value, &onUnknown, &hasDuplicates)
        case 18 where name.matches(HeaderName.enqueuedAt): Self.put(value, &enqueuedAt, &hasDuplicates)
        case 23 where name.matches(HeaderName.firstAttemptAt): Self.put(value, &firstAttemptAt, &hasDuplicates)
        case 5...: if name.extracting(0..<5).matches("apns-" as StaticString) { unknownCount += 1 }
        default: break
        }
    }

    /// Fills a place once; a second value is not taken, only noted.
    @inline(__always)
    private static func put(_ value: HeaderValue, _ place: inout HeaderValue?, _ hasDuplicates: inout Bool) {
        if place == nil { place = value } else { hasDuplicates = true }
    }

    /// Whether a worker wrote the message as a retry copy.
    package var isCopy: Bool { version != nil }

    /// Whether the message carries any header that only raw jobs use.
    var hasRawFields: Bool { deviceToken != nil || topic != nil || pushType != nil }
}
