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
    /// What the results say.
    let report: FinalReport

    /// Reads a letter.
    ///
    /// - Parameters:
    ///   - delivery: The letter.
    ///   - trusted: The exchanges of `jobs.from`.
    ///   - provesDeaths: Whether the broker lets nobody else write `x-death`.
    ///   - now: The time, in milliseconds since 1970.
    /// - Returns: Nil for a letter with which nothing is to be done: its job was rejected by a worker, which publishes
    ///   the result itself, or no queue of jobs ended the job.
    init?(
        _ delivery: borrowing Delivery, trusting trusted: [[UInt8]] = [], provesDeaths: Bool, now: Int64
    ) {
        guard let death = Self.lastDeath(of: delivery), let cause = Cause(rawValue: death.reason),
            TopologyNames.isJobQueue(death.queue)
        else { return nil }
        self.cause = cause
        report = Self.report(of: cause, death, provesDeaths: provesDeaths)
        route = TopologyNames.route(ofJobQueue: death.queue)
        // What the body did to workers before, it may do again.
        let returns = DeliveryReader.returns(of: delivery)
        let isUnread = cause == .deliveryLimit || returns >= PoisonWatch<HeldDelivery>.limit
        // The broker does not say whether it had delivered the job before.
        var message = JobMessage(
            bytes: delivery.bytes, routingKey: delivery.routingKey, body: delivery.body, redelivered: true)
        // The letter has the key of its job, except for one without a route. That one's key stands in `x-death` alone,
        // where brokers before 4.0 keep what a producer wrote. So its results name no app.
        // What cannot be read was of no use to a worker either. The result then has fewer fields.
        let foreign = try? DeliveryReader.read(delivery.properties, into: &message)
        let start = message.bytes.count
        message.bytes += death.exchange
        message.way = DeliveryWay(
            exchange: start..<message.bytes.count, foreignDeath: foreign, in: message.bytes, trusting: trusted)
        let isUntrusted = message.way.isUntrusted || !provesDeaths
        var read = Self.job(message, isUnread: isUnread, now: now)
        // Only a routing key under the broker's permissions proves that a producer may speak of an app.
        if isUntrusted { read.forgetPlace() } else if !read.hasLegibleKey { read.forgetOwnPlace() }
        job = JobInFlight(
            job: read, refusal: report, receipt: nil, properties: delivery.properties,
            receivedAt: now)
        var indexes: [Int] = []
        while let notification = job.next() { indexes.append(notification.index) }
        self.indexes = indexes
    }

    /// The environment and the topic to which the results belong, and the route, for letters of no app.
    var app: [UInt8] {
        var app = Array((job.job.environment?.rawValue ?? "").utf8)
        app.append(UInt8(ascii: "."))
        app += job.job.bytes[job.job.topic]
        app.append(UInt8(ascii: " "))
        app += (route ?? "").utf8
        return app
    }

    private static func report(of cause: Cause, _ death: Death, provesDeaths: Bool) -> FinalReport {
        let doubt = provesDeaths ? "" : ". Before version 4.0 nothing proves which app the job was for"
        let ended = "RabbitMQ ended the job in its queue, because"
        switch cause {
        case .expired:
            let why =
                if let expiration = death.expiration {
                    "its AMQP property expiration (\(expiration) ms) has passed, unless a policy with message-ttl was "
                        + "faster: set a deadline instead"
                } else {
                    "a policy with message-ttl gives the queue's messages less time: tell the operator. The producer set "
                        + "no AMQP property expiration"
                }
            return FinalReport(.expired, .none, reason: .expirationPassed, detail: "\(ended) \(why)\(doubt)")
        case .deliveryLimit:
            return FinalReport(
                .exhausted, .replay, reason: .poison,
                detail: "\(ended) it came back more often than the delivery limit allows: every worker that took it up "
                    + "may have died of it, or it was given back that often, as by routes that are paused. Look whether "
                    + "workers died before it is replayed\(doubt)")
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
        /// The exchange by which the message had come to that queue. Brokers before 4.0 keep what a producer wrote here.
        let exchange: [UInt8]
        /// The producer's AMQP property `expiration`, which the broker takes off an expired message. Absent where the
        /// producer set none (seen on 3.10.8, 4.0.5 and 4.3.6).
        let expiration: String?
    }

    private static func lastDeath(of delivery: borrowing Delivery) -> Death? {
        guard let range = try? MessagePropertyReader(delivery.bytes, delivery.properties).headers,
            let headers = try? FieldTable(usableOf: range, in: delivery.bytes, maximumSize: maximumSize),
            case .array(let deaths)? = headers["\(BrokerHeader.death)"], case .table(let last)? = deaths.first,
            case .text(let queue)? = last["queue"], case .text(let reason)? = last["reason"]
        else { return nil }
        var exchange: [UInt8] = []
        if case .text(let name)? = last["exchange"] { exchange = name }
        var expiration: String?
        // A number, as the broker checked when the job was published. Older brokers let producers write `x-death`.
        if case .text(let text)? = last["original-expiration"], (1...20).contains(text.count),
            text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        {
            expiration = String(decoding: text, as: UTF8.self)
        }
        return Death(
            queue: String(decoding: queue, as: UTF8.self), reason: String(decoding: reason, as: UTF8.self),
            exchange: exchange, expiration: expiration)
    }

    /// The most bytes of headers. Jobs that no worker has seen may have more of them than workers allow.
    private static let maximumSize = 1 << 20
}
