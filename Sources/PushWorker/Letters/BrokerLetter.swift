import PushModel
import RabbitMQ
import Topology

/// A dead letter that RabbitMQ wrote because it ended a job in its queue, as far as the job's results need it.
///
/// Pure, except for the random ids of jobs without an id.
struct BrokerLetter {
    /// Why RabbitMQ ends jobs of which no worker reports, as the header `x-death` says it.
    /// [Dead letter exchanges](https://www.rabbitmq.com/docs/dlx#effects)
    enum Cause: String, CaseIterable, Sendable {
        /// The AMQP property `expiration` of the job.
        case expired
        /// The job came back to its queue more often than the queue's policy allows.
        case deliveryLimit = "delivery_limit"
    }

    /// Why RabbitMQ ended the job.
    let cause: Cause
    /// The job. It has no delivery that could be acknowledged.
    let job: JobInFlight
    /// The route from whose queue the job comes; nil for a queue of jobs that no route takes.
    let route: String?
    /// The positions of the notifications of which no worker reports; 0 alone if none could be read.
    let indexes: [Int]

    /// Reads a letter.
    ///
    /// - Parameters:
    ///   - delivery: The letter.
    ///   - now: The time, in milliseconds since 1970.
    /// - Returns: Nil for a letter with which nothing is to be done: its job was rejected by a worker, which publishes
    ///   the result itself, or no queue of jobs ended the job.
    init?(_ delivery: borrowing Delivery, now: Int64) {
        guard let death = Self.lastDeath(of: delivery), let cause = Cause(rawValue: death.reason),
            TopologyNames.isJobQueue(death.queue)
        else { return nil }
        self.cause = cause
        route = TopologyNames.route(ofJobQueue: death.queue)
        // What the body did to workers before, it may do again.
        let isUnread = cause == .deliveryLimit || DeliveryReader.returns(of: delivery) >= PoisonWatch<Delivery>.limit
        // The broker does not say whether it had delivered the job before.
        var message = JobMessage(
            bytes: delivery.bytes, routingKey: delivery.routingKey, body: delivery.body, redelivered: true,
            way: TopologyNames.isReturnQueue(death.queue) ? .returned : .published)
        // Letters from queues of jobs without a route have another key than their jobs.
        if let key = death.routingKey {
            let start = message.bytes.count
            message.bytes += key
            message.routingKey = start..<message.bytes.count
        }
        // What cannot be read was of no use to a worker either. The result then has fewer fields.
        _ = try? DeliveryReader.read(delivery.properties, into: &message)
        var read = Self.job(message, isUnread: isUnread, now: now)
        // Only a routing key proves that a producer may speak of an app.
        if !read.hasLegibleKey { read.forgetOwnPlace() }
        job = JobInFlight(
            job: read, refusal: Self.report(of: cause), deliveryTag: 0,
            generation: 0, properties: delivery.properties, receivedAt: now)
        var indexes: [Int] = []
        while let index = job.nextIndex() { indexes.append(index) }
        self.indexes = indexes.isEmpty ? [0] : indexes
    }

    /// What the results say.
    var report: FinalReport { Self.report(of: cause) }

    private static func report(of cause: Cause) -> FinalReport {
        switch cause {
        case .expired:
            FinalReport(
                .expired, .none, reason: .expirationPassed,
                detail: "RabbitMQ ended the job in its queue, because its AMQP property expiration has passed: set a "
                    + "deadline instead")
        case .deliveryLimit:
            FinalReport(
                .invalid, .fixRequest, reason: .poison,
                detail: "RabbitMQ ended the job in its queue, because it came back more often than the delivery limit "
                    + "allows: look for the cause before it is replayed")
        }
    }

    private static func job(_ message: consuming JobMessage, isUnread: Bool, now: Int64) -> Job {
        let decoder = JobDecoder()
        func bits() -> UInt64 { .random(in: 0 ... .max) }
        guard !isUnread else { return decoder.refuseUnread(message, .poison, "", now: now, random: bits).job }
        switch decoder.decode(message, now: now, random: bits) {
        case .success(let job): return job
        case .failure(let defect): return defect.job
        }
    }

    /// What `x-death` says of the message's latest death. Earlier deaths are those of retry copies in their tiers.
    private struct Death {
        let queue: String
        let reason: String
        /// The key that the message had in that queue.
        let routingKey: [UInt8]?
    }

    private static func lastDeath(of delivery: borrowing Delivery) -> Death? {
        guard let range = try? MessagePropertyReader(delivery.bytes, delivery.properties).headers,
            let headers = try? FieldTable(reading: range, in: delivery.bytes, maximumSize: maximumSize),
            case .array(let deaths)? = headers["\(BrokerHeader.death)"], case .table(let last)? = deaths.first,
            case .text(let queue)? = last["queue"], case .text(let reason)? = last["reason"]
        else { return nil }
        var routingKey: [UInt8]?
        if case .array(let keys)? = last["routing-keys"], case .text(let key)? = keys.first { routingKey = key }
        return Death(
            queue: String(decoding: queue, as: UTF8.self), reason: String(decoding: reason, as: UTF8.self),
            routingKey: routingKey)
    }

    /// The most bytes of headers. Jobs that no worker has seen may have more of them than workers allow.
    private static let maximumSize = 1 << 20
}
