/// The names of headers, spelled once for reader and writer. They are the headers of jobs, results and dead letters
/// (`Producers.md`, `Results.md`, `DeadLetters.md`), and Apple's in HTTP requests to APNs and in answers.
@usableFromInline
package enum HeaderName {
    // MARK: On raw jobs, ours although it is named like Apple's

    /// The device token: hexadecimal text, or bytes.
    package static var deviceToken: StaticString { "apns-device-token" }

    // MARK: Apple's own, on raw jobs and in requests to APNs

    // Apple's own are inlinable, because `RequestHead` and `StreamTable` use them for every push.

    /// The topic with its suffix.
    @inlinable package static var topic: StaticString { "apns-topic" }
    /// The push type.
    @inlinable package static var pushType: StaticString { "apns-push-type" }
    /// 1, 5 or 10.
    @inlinable package static var priority: StaticString { "apns-priority" }
    /// A time, 0 = try once.
    @inlinable package static var expiration: StaticString { "apns-expiration" }
    /// At most 64 bytes.
    @inlinable package static var collapseID: StaticString { "apns-collapse-id" }
    /// A UUID.
    @inlinable package static var apnsID: StaticString { "apns-id" }
    /// The broadcast channel that a job publishes to, reads or deletes; in an answer, the one that was created.
    @inlinable package static var channelID: StaticString { "apns-channel-id" }

    // MARK: Apple's own, in requests and answers only

    /// The id of a request about broadcast channels, or of a broadcast: a UUID.
    @inlinable package static var requestID: StaticString { "apns-request-id" }
    /// The id that APNs gives a notification in the development environment: a UUID.
    @inlinable package static var uniqueID: StaticString { "apns-unique-id" }

    // MARK: Ours, on jobs of both forms

    /// The time after which the job is not sent.
    package static var deadline: StaticString { "x-apns-deadline" }
    /// The time before which the job is not sent.
    package static var notBefore: StaticString { "x-apns-not-before" }
    /// `retry` or `report`.
    package static var onUnknown: StaticString { "x-apns-on-unknown" }
    /// The producer's own words, returned in results.
    package static var reference: StaticString { "x-apns-reference" }
    /// W3C trace context, passed on.
    package static var traceparent: StaticString { "traceparent" }
    /// What other systems noted of the trace (W3C); for collectors.
    package static var tracestate: StaticString { "tracestate" }
    /// The time at which the producer queued the job; finer than the property `timestamp` if it has milliseconds.
    package static var enqueuedAt: StaticString { "x-apns-enqueued-at" }
    /// What the job asks for, one of `BroadcastChannelOperation`.
    package static var operation: StaticString { "x-apns-operation" }
    /// `batch`: a message may hold several of the job's results.
    package static var results: StaticString { "x-apns-results" }
    /// The name of a replay. It is a part of the ids of the replay's results.
    package static var replay: StaticString { "x-apns-replay" }

    // MARK: On retry copies; all but `indexes` are read only together with `version`

    /// The version of these headers: 1.
    package static var version: StaticString { "x-apns-v" }
    /// The attempt that this copy is for, from 1. On results and dead letters: the last attempt.
    package static var attempt: StaticString { "x-apns-attempt" }
    /// Milliseconds since 1970 of the first attempt.
    package static var firstAttemptAt: StaticString { "x-apns-first-attempt-at" }
    /// The positions of `device_tokens` that the message is about, as in `0-4,7`; absent = all. Read on every
    /// multicast job.
    package static var indexes: StaticString { "x-apns-indexes" }

    // MARK: On results and dead letters

    /// The outcome.
    package static var outcome: StaticString { "x-apns-outcome" }
    /// The HTTP status of APNs.
    package static var status: StaticString { "x-apns-status" }
    /// The reason.
    package static var reason: StaticString { "x-apns-reason" }
    /// What is known about a duplicate.
    ///
    /// - On the result of a redelivery that was not pushed again: `suppressed`.
    /// - On a retry copy that the broker may have twice: `possible`. The copy was published again because its confirm
    ///   was lost, or it was made from a redelivered job.
    package static var duplicate: StaticString { "x-apns-duplicate" }

    // MARK: On dead letters

    /// What a person should know beside the reason.
    package static var detail: StaticString { "x-apns-detail" }
    /// What to do about it, one of `Action`.
    package static var action: StaticString { "x-apns-action" }
    /// Since when APNs knows that the letter's device tokens are dead, in milliseconds since 1970. There is a time for
    /// each position of the letter, as in `1763712764120,1763712764121`; `0` if APNs named none.
    package static var tokenInvalidSince: StaticString { "x-apns-token-invalid-since" }
    /// The routing key the job came with.
    package static var originalRoutingKey: StaticString { "x-apns-original-routing-key" }
    /// Milliseconds since 1970 at which the last of the job's notifications was settled.
    package static var diedAt: StaticString { "x-apns-died-at" }
    /// The worker that wrote it.
    package static var worker: StaticString { "x-apns-worker" }
}
