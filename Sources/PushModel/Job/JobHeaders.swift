/// The headers of a job that mean something, each as it stood on the wire.
package struct JobHeaders: Sendable {
    /// Whether the producer gave a binary `message-id` over AMQP 1.0, which RabbitMQ 4 delivers as a header.
    private(set) var hasBinaryMessageID = false
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
    /// The value of `HeaderName.notBefore`.
    var notBefore: HeaderValue?
    /// The value of `HeaderName.onUnknown`.
    var onUnknown: HeaderValue?
    /// The value of `HeaderName.reference`.
    var reference: HeaderValue?
    /// The value of `HeaderName.traceparent`.
    var traceparent: HeaderValue?
    /// The value of `HeaderName.tracestate`; the first where there are several, which W3C allows.
    var tracestate: HeaderValue?
    /// The value of `HeaderName.enqueuedAt`.
    var enqueuedAt: HeaderValue?
    /// The value of `HeaderName.results`.
    var results: HeaderValue?
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
    /// The value of `HeaderName.originalRoutingKey`; the first where there are several.
    var originalRoutingKey: HeaderValue?
    /// Whether one of the headers above came twice.
    var hasDuplicates = false
    /// How many headers begin with `apns-` and are not known to this version.
    var unknownCount = 0

    /// No headers.
    package init() {}

    /// Takes in one header. Unknown headers are ignored; those that begin with `apns-` are counted.
    ///
    /// - Parameters:
    ///   - name: Where the header's name stands in `bytes`.
    ///   - value: Its value, with ranges into `bytes`.
    ///   - bytes: The message's buffer.
    package mutating func take(name: Range<Int>, value: HeaderValue, in bytes: borrowing [UInt8]) {
        let name = bytes.span.extracting(name)
        // The length is compared first, because most lengths leave one or two candidates.
        switch name.count {
        case 7 where name.matches(HeaderName.apnsID): Self.put(value, &apnsID, &hasDuplicates)
        case 8 where name.matches(HeaderName.version): Self.put(value, &version, &hasDuplicates)
        case 10 where name.matches(HeaderName.topic): Self.put(value, &topic, &hasDuplicates)
        case 10 where name.matches(HeaderName.tracestate): tracestate = tracestate ?? value
        case 11 where name.matches(HeaderName.traceparent): Self.put(value, &traceparent, &hasDuplicates)
        case 12 where name.matches(BrokerHeader.binaryMessageID): if case .bytes = value { hasBinaryMessageID = true }
        case 13 where name.matches(HeaderName.priority): Self.put(value, &priority, &hasDuplicates)
        case 13 where name.matches(HeaderName.replay): Self.put(value, &replay, &hasDuplicates)
        case 14 where name.matches(HeaderName.pushType): Self.put(value, &pushType, &hasDuplicates)
        case 14 where name.matches(HeaderName.results): Self.put(value, &results, &hasDuplicates)
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
        case 17 where name.matches(HeaderName.notBefore): Self.put(value, &notBefore, &hasDuplicates)
        case 17 where name.matches(HeaderName.onUnknown): Self.put(value, &onUnknown, &hasDuplicates)
        case 18 where name.matches(HeaderName.enqueuedAt): Self.put(value, &enqueuedAt, &hasDuplicates)
        case 23 where name.matches(HeaderName.firstAttemptAt): Self.put(value, &firstAttemptAt, &hasDuplicates)
        case 27 where name.matches(HeaderName.originalRoutingKey): originalRoutingKey = originalRoutingKey ?? value
        case 5...: if name.extracting(0..<5).matches("apns-" as StaticString) { unknownCount += 1 }
        default: break
        }
    }

    /// Fills a place once. A second value is not taken, only noted.
    @inline(__always)
    private static func put(_ value: HeaderValue, _ place: inout HeaderValue?, _ hasDuplicates: inout Bool) {
        if place == nil { place = value } else { hasDuplicates = true }
    }

    /// Whether the message has one of three headers that only raw jobs use: device token, topic or push type.
    var hasRawFields: Bool { deviceToken != nil || topic != nil || pushType != nil }
}
