import TLS
package import Text

/// A job that was read and found in order: what is to be sent, to whom, and under which conditions.
///
/// All texts are ranges into `bytes`, the buffer the message came in; unescaped JSON texts are appended to it.
package struct Job: Sendable {
    /// The most device tokens in one job.
    package static let maximumTokens = 1_000
    /// The longest device token, in hexadecimal digits. Apple gives no size; the longest ever seen had 200.
    package static let maximumTokenLength = 400
    /// The longest reference, in bytes.
    package static let maximumReferenceLength = 1_024
    /// The longest collapse identifier, in bytes.
    package static let maximumCollapseIDLength = 64
    /// The longest job id, in bytes: what an AMQP short string holds, because results carry it as one.
    package static let maximumIDLength = 255

    /// The buffer all ranges point into; empty until the job is read.
    package internal(set) var bytes: [UInt8] = []
    /// The body as delivered.
    @Packed package internal(set) var body: Range<Int>
    /// The routing key it came with.
    @Packed package internal(set) var routingKey: Range<Int>
    /// The legible routing key that the job had before somebody moved it to another queue. Nothing proves it.
    @PackedIfAny package internal(set) var firstRoutingKey: Range<Int>?
    /// The payload's bytes, sent as they are.
    @Packed package internal(set) var payload: Range<Int> = 0..<0

    /// The job's id.
    @Packed package internal(set) var jobID: Range<Int> = 0..<0
    /// Whether the id was made here, because the job brought none.
    package internal(set) var generatedID = false
    /// Whether its body was left unread. The body may then hold an id and device tokens that are not known here.
    package internal(set) var isUnread = false
    /// The property `correlation_id`.
    @PackedIfAny package internal(set) var correlationID: Range<Int>?
    /// The property `reply_to`, which is not yet checked against what the worker allows.
    @PackedIfAny package internal(set) var replyTo: Range<Int>?
    /// The producer's own words, valid UTF-8.
    @PackedIfAny package internal(set) var reference: Range<Int>?
    /// A well-formed W3C trace context.
    @PackedIfAny package internal(set) var traceparent: Range<Int>?
    /// What other systems noted of the trace; printable ASCII. Nil without a trace context.
    @PackedIfAny package internal(set) var tracestate: Range<Int>?
    /// The name of the replay that brought the job back.
    @PackedIfAny package internal(set) var replay: Range<Int>?

    /// The environment; nil only inside a `JobDefect`.
    package internal(set) var environment: APNSEnvironment?
    /// The class in its routing key; `normal` if the key has none.
    package internal(set) var jobClass = JobClass.normal
    /// The topic with its suffix; empty only inside a `JobDefect`.
    @Packed package internal(set) var topic: Range<Int> = 0..<0
    /// The push type, given or by default.
    package internal(set) var pushType = PushType.alert
    /// 1, 5 or 10.
    package internal(set) var priority: UInt8 = 10
    /// `apns-expiration` in seconds since 1970, 0 = try once; nil when not given.
    package internal(set) var expiration: Int64?
    /// The collapse identifier.
    @PackedIfAny package internal(set) var collapseID: Range<Int>?
    /// Milliseconds since 1970 after which the job is not sent.
    package internal(set) var deadline: Int64?
    /// Milliseconds since 1970 before which the job is not sent.
    package internal(set) var notBefore: Int64?
    /// What to do when there is no answer.
    package internal(set) var onUnknown = OnUnknown.retry
    /// Whether the producer asked for messages with several results each.
    package internal(set) var wantsBatches = false

    /// The number of the attempt this delivery is for, from 1.
    package internal(set) var attempt = 1
    /// When the first attempt was made, in milliseconds since 1970.
    package internal(set) var firstAttemptAt: Int64?
    /// When the producer queued the job, in milliseconds since 1970.
    package internal(set) var enqueuedAt: Int64?
    /// Whether the producer gave that time in whole seconds.
    package internal(set) var isEnqueuedInSeconds = false
    /// Whether the job may have been delivered before: the broker says so, or a header of the retry copy does.
    package internal(set) var redelivered: Bool
    /// How many fields of the envelope, or headers named `apns-…`, this version does not know. An unknown push type
    /// counts as one.
    package internal(set) var unknownFields = 0

    /// Which notifications this message is about.
    package internal(set) var indexes = IndexRanges.all
    /// The device tokens of the job.
    var tokens = DeviceTokens()
    /// The `apns-id` of the job's only notification; nil if the `apns-id` is made from the job's id by hashing.
    var fixedAPNSID: UUIDBytes?

    /// What the job asks for.
    package internal(set) var operation = BroadcastChannelOperation.push
    /// The broadcast channel that the job is about, as APNs named it. Nil for pushes to devices, and for jobs that
    /// create or list broadcast channels.
    @PackedIfAny package internal(set) var channelID: Range<Int>?
    /// The storage policy of the new broadcast channel: 0 or 1. From a raw job's body: as written, 0...255.
    package internal(set) var storagePolicy: UInt8?

    /// A job that is still to be read.
    init(body: Range<Int>, routingKey: Range<Int>, redelivered: Bool) {
        self.body = body
        self.routingKey = routingKey
        self.redelivered = redelivered
    }

    /// Whether the job was written with `device_tokens`.
    package var isMulticast: Bool { tokens.isMulticast }

    /// How many device tokens the job has, including those that this message is not about. A bad single token does not
    /// count.
    package var tokenCount: Int { tokens.count }

    /// How many requests the whole job needs: one per device token, or one if it is about broadcast channels.
    package var targetCount: Int { operation == .push ? tokens.count : 1 }

    /// How many notifications this message is about.
    package var notificationCount: Int { indexes.count(of: targetCount) }

    /// The first notification, at or after a position, that this message is about; nil at the end.
    package func nextIndex(from position: Int) -> Int? { indexes.next(from: position, of: targetCount) }

    /// Where a device token's hexadecimal digits stand in `bytes`.
    ///
    /// - Parameter index: From 0, below `tokenCount`.
    package func deviceToken(_ index: Int) -> Range<Int> { tokens[index] }

    /// What is wrong with a device token of a multicast job; nil if the token may be sent.
    ///
    /// - Parameter index: From 0, below `tokenCount`.
    package func tokenDefect(_ index: Int) -> Defect? { tokens.flaw(index).defect }

    /// The `apns-id` of a notification, the same on every attempt.
    ///
    /// It is the given one; else the job's id if that is a UUID and the job needs only one request; else
    /// UUIDv5(N, `<job id>/<index>`).
    package func apnsID(_ index: Int) -> UUIDBytes {
        if let fixedAPNSID { return fixedAPNSID }
        var hash = SHA1()
        hash.update(.contractNamespace)
        hash.update(bytes.span.extracting(jobID))
        hash.update(UInt8(ascii: "/"))
        hash.update(decimal: index)
        return UUIDBytes(v5: hash)
    }

    /// Where the topic's bundle identifier stands in `bytes`: the topic without the suffix of Live Activities. The
    /// paths of broadcast channels have no such suffix.
    package var bundleID: Range<Int> {
        let suffix = PushType.liveActivity.topicSuffix.utf8CodeUnitCount
        guard Topic.pushType(of: bytes.span.extracting(topic)) == .liveActivity else { return topic }
        return topic.lowerBound..<(topic.upperBound - suffix)
    }

    /// The moment, in milliseconds since 1970, after which the job must not be sent: its deadline or its
    /// expiration, whichever is first. An expiration of 0 is not a moment.
    package var expiry: Int64? { firstExpiry(deadline: deadline, expiration: expiration) }

    /// Whether the job's time has passed.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package func isExpired(at now: Int64) -> Bool {
        guard let expiry else { return false }
        return now > expiry
    }

    /// Whether its routing key names environment, class and topic.
    package var hasLegibleKey: Bool { JobRoutingKey(routingKey, in: bytes.span) != nil }

    /// The environment and the topic of the first routing key of a job that was moved; nil without one.
    package var firstPlace: (environment: APNSEnvironment, topic: Range<Int>)? {
        guard let firstRoutingKey, let key = JobRoutingKey(firstRoutingKey, in: bytes.span) else { return nil }
        return (key.environment, key.topic)
    }

    /// Forgets the first routing key, which belongs to another route.
    package mutating func forgetFirstRoutingKey() { firstRoutingKey = nil }

    /// Forgets environment and topic, which nothing proves. Results and dead letters of the job then name neither.
    package mutating func forgetPlace() {
        environment = nil
        topic = 0..<0
    }

    /// Forgets what the job itself says of environment and topic. A key that is not legible may still begin with an
    /// environment.
    package mutating func forgetOwnPlace() {
        environment = APNSEnvironment(firstWordOf: bytes.span.extracting(routingKey))
        topic = 0..<0
    }

    /// Appends the canonical routing key, `<environment>.<class>.<topic>`, which retry copies use.
    package func appendRoutingKey(to buffer: inout [UInt8]) {
        buffer.append((environment ?? .production).text)
        buffer.append(UInt8(ascii: "."))
        buffer.append(jobClass.text)
        buffer.append(UInt8(ascii: "."))
        bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0[topic]) }
    }

    /// Refuses this job for a reason that only its receiver knows, such as the route of its queue.
    package consuming func refused(_ reason: Reason, _ detail: String) -> JobDefect {
        JobDefect(reason: reason, detail: detail, job: self)
    }
}

/// The earlier of a deadline in milliseconds and an expiration in seconds, in milliseconds; nil without both. An
/// expiration of 0 is not a moment.
func firstExpiry(deadline: Int64?, expiration: Int64?) -> Int64? {
    guard let expiration, expiration != 0 else { return deadline }
    let end = milliseconds(fromSeconds: expiration)
    return min(end, deadline ?? end)
}

/// Milliseconds from seconds. A result that does not fit becomes `Int64.max`, or `Int64.min` if negative.
func milliseconds(fromSeconds seconds: Int64) -> Int64 {
    let (product, overflowed) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflowed ? (seconds < 0 ? .min : .max) : product
}
