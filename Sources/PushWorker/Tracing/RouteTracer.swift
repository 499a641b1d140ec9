import EventLoop
import PushModel
import Text
import Topology
import TraceExport

/// Makes the spans of a route's notifications that carry a trace context: one from the queue to the end of the attempt,
/// and in it one for each request to APNs.
///
/// A request that APNs provably did not process has no span. A job whose trace is not sampled has none at all. Spans
/// never hold a device token or a payload. Time comes in; the lane's clock has milliseconds. Confined to its lane.
///
/// [OpenTelemetry: messaging spans](https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/)
struct RouteTracer {
    /// What an attempt led to.
    enum End {
        /// The notification has its result.
        case reported(FinalReport)
        /// The notification goes on as a copy of its job, for this attempt.
        case retried(attempt: Int, Attempted)
        /// The notification was sent, and waits in a tier for the same attempt. With how the request ended, if that is
        /// known.
        case waits(Attempted?)
    }

    private let spans: SpanQueue
    private let route: String
    private let queue: String
    /// Makes the ids of this lane's spans differ from those of others.
    private let seed: UInt64
    private var random: SplitMix64

    /// A tracer that has seen nothing yet.
    ///
    /// - Parameters:
    ///   - spans: Where the spans go.
    ///   - route: The route's name.
    ///   - seed: A number that is different for each route, process and machine.
    init(_ spans: SpanQueue, route: String, seed: UInt64) {
        self.spans = spans
        self.route = route
        self.seed = seed
        queue = TopologyNames.jobQueue(route: route)
        random = SplitMix64(seed: seed)
    }

    /// A request to APNs is over, with or without an answer.
    ///
    /// - Parameters:
    ///   - notification: What was sent.
    ///   - attempted: The answer, or why it is missing.
    ///   - microseconds: How long the request took.
    ///   - moment: The time.
    mutating func requested(
        _ notification: Notification, _ attempted: Attempted, microseconds: Int64, at moment: Moment
    ) {
        guard let context = context(of: notification) else { return }
        let job = notification.job.job
        var attributes = facts(of: notification)
        if case .response(let answer) = attempted {
            attributes.append(.number("http.response.status_code", answer.status))
        }
        let failure = Self.failure(of: attempted)
        if let failure { attributes.append(.text("error.type", failure)) }
        // The clock has whole milliseconds: a request must not begin before its job arrived.
        let length = max(0, microseconds) * 1_000
        let start = max(Self.nanoseconds(moment.wall) - length, Self.nanoseconds(notification.job.receivedAt))
        spans.add(
            TraceSpan(
                trace: (context.high, context.low), id: Self.some(random.next()), parent: stepID(of: notification),
                flags: context.flags, traceState: state(of: job), kind: .client,
                name: "apns \(job.operation.rawValue)", start: start, end: start + length, attributes: attributes,
                failure: failure))
    }

    /// An attempt is over.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - end: What it led to.
    ///   - moment: The time.
    func ended(_ notification: Notification, _ end: End, at moment: Moment) {
        guard let context = context(of: notification) else { return }
        let job = notification.job.job
        var attributes = facts(of: notification)
        attributes += [
            .text("messaging.system", "rabbitmq"), .text("messaging.operation.type", "process"),
            .text("messaging.operation.name", "process"),
            .text("messaging.destination.name", queue),
            .text("messaging.message.id", String(decoding: job.bytes[job.jobID], as: UTF8.self)),
            .text("martlet.route", route), .number("martlet.attempt", job.attempt),
        ]
        if job.isMulticast { attributes.append(.number("martlet.index", notification.index)) }
        var failure: String?
        switch end {
        case .reported(let report):
            attributes.append(.text("martlet.outcome", report.outcome.rawValue))
            if report.outcome != .accepted { failure = report.reason?.rawValue ?? report.outcome.rawValue }
        case .retried(let attempt, let attempted):
            attributes.append(.number("martlet.next_attempt", attempt))
            failure = Self.failure(of: attempted)
        case .waits(let attempted): failure = attempted.flatMap(Self.failure)
        }
        if let failure { attributes.append(.text("error.type", failure)) }
        let start = notification.job.receivedAt - waited(notification.job)
        // The end of the present millisecond, so that every request of the attempt lies within.
        let stop = max(start, moment.wall) + 1
        spans.add(
            TraceSpan(
                trace: (context.high, context.low), id: stepID(of: notification), parent: context.parent,
                flags: context.flags, traceState: state(of: job), kind: .consumer, name: "process \(queue)",
                start: Self.nanoseconds(start), end: Self.nanoseconds(stop), attributes: attributes, failure: failure))
    }

    /// The notification's trace; nil without one, and for one that is not to be recorded.
    private func context(of notification: Notification) -> TraceContext? {
        // Read in place, because most jobs have none.
        guard let range = notification.job.job.traceparent else { return nil }
        let bytes = notification.job.job.bytes
        let context = TraceContext(bytes.span.extracting(range))
        return context?.isSampled == true ? context : nil
    }

    /// Why a request or an attempt failed; nil for one that did not.
    private static func failure(of attempted: Attempted) -> String? {
        if let reason = attempted.reason { return reason.rawValue }
        guard case .response(let answer) = attempted, !answer.meaning.isAccepted else { return nil }
        return "\(answer.status)"
    }

    /// How long the job had waited when it arrived, in milliseconds, as its result says it. 0 if that is not known. A
    /// retry and a replayed dead letter did not wait in the queue for all that time, so for them it is 0, too.
    private func waited(_ delivery: JobInFlight) -> Int64 {
        guard delivery.job.attempt == 1, delivery.job.replay == nil else { return 0 }
        return delivery.job.queueMilliseconds(at: delivery.receivedAt) ?? 0
    }

    private func state(of job: Job) -> String? {
        job.tracestate.map { String(decoding: job.bytes[$0], as: UTF8.self) }
    }

    /// What both kinds of spans say.
    private func facts(of notification: Notification) -> [TraceSpan.Attribute] {
        let job = notification.job.job
        guard notification.job.refusal == nil else { return [] }
        return [
            .text("apns.id", "\(job.apnsID(notification.index))"),
            .text("apns.topic", String(decoding: job.bytes[job.topic], as: UTF8.self)),
            .text("apns.environment", (job.environment ?? .production).rawValue),
            .text("apns.push_type", pushType(of: job)),
        ]
    }

    private func pushType(of job: Job) -> String {
        if case .other(let range) = job.pushType { return String(decoding: job.bytes[range], as: UTF8.self) }
        return "\(job.pushType.text)"
    }

    /// The id of the span of an attempt. It is made from the notification, because requests name it before it is over.
    /// The job is an object that lives as long as its attempt, so two copies of one job differ.
    private func stepID(of notification: Notification) -> UInt64 {
        let job = notification.job.job
        let id = StableHash.of(job.bytes.span.extracting(job.jobID), seed: seed)
        let place = UInt64(truncatingIfNeeded: notification.index) << 16 | UInt64(truncatingIfNeeded: job.attempt)
        let time = UInt64(bitPattern: notification.job.receivedAt)
        let object = UInt64(UInt(bitPattern: ObjectIdentifier(notification.job)))
        return Self.some(StableHash.spread(StableHash.spread(id ^ place) ^ time ^ StableHash.spread(object)))
    }

    /// The number as an id. OpenTelemetry forbids the id 0.
    private static func some(_ number: UInt64) -> UInt64 { number == 0 ? 1 : number }

    private static func nanoseconds(_ milliseconds: Int64) -> Int64 { max(0, milliseconds) &* 1_000_000 }
}
