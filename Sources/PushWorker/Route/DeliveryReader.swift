import EventLoop
import PushModel
import RabbitMQ
import Text
import Topology

/// Reads deliveries as jobs, and checks that they belong to the route that received them. The answer is always a job,
/// or the defect of the delivery. Pure, except for the random ids that jobs without an id get.
struct DeliveryReader {
    /// The name of the route.
    let route: String
    /// Which (environment, topic) pairs may arrive; nil for the route that answers `NoRoute`.
    let claim: RouteClaim?
    /// The names of the queues of the tiers, in the order of their positions.
    let tiers: [String]
    /// The exchanges of `jobs.from`.
    private let trusted: [[UInt8]]
    private let random: Randomness
    private let decoder = JobDecoder()

    /// Creates the reader of one route.
    ///
    /// - Parameters:
    ///   - route: The name of the route.
    ///   - claim: Which (environment, topic) pairs may arrive; nil for the route that answers `NoRoute`.
    ///   - tiers: The tiers, in the order of their positions.
    ///   - trusted: The exchanges of `jobs.from`.
    ///   - random: Makes ids for jobs without one.
    init(
        route: String, claim: RouteClaim?, tiers: [RetryTier], trusting trusted: [String] = [],
        random: Randomness = Randomness()
    ) {
        self.random = random
        self.trusted = trusted.map { Array($0.utf8) }
        self.route = route
        self.claim = claim
        self.tiers = tiers.map(\.queue)
    }

    /// How often a delivery came back, as far as its quorum queue wrote the count; 0 without a readable count.
    ///
    /// What each version writes, seen on 3.10.8, 4.0.5 and 4.3.6. A header that is not written stays as the producer
    /// wrote it:
    ///
    /// | a message | before 4.3 | from 4.3 on |
    /// |---|---|---|
    /// | is delivered first | nothing | nothing |
    /// | was given back (`basic.nack`) | `x-delivery-count` + 1 | `x-acquired-count` + 1 |
    /// | was rejected with requeue, or lost with its channel | `x-delivery-count` + 1 | both + 1 |
    /// | outlasted `consumer_timeout` | `x-delivery-count` + 1 | `x-acquired-count` + 1 |
    ///
    /// From 4.3 on `x-delivery-count` is written only if it is not 0. So it counts only up to `x-acquired-count`, which
    /// every redelivery has. Before 4.3 a producer can write a small `x-acquired-count` into its own job; then the
    /// queue's delivery limit ends that job.
    static func returns(of delivery: borrowing Delivery) -> Int64 {
        guard delivery.redelivered,
            let table = try? MessagePropertyReader(delivery.bytes, delivery.properties).headers
        else { return 0 }
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
        var (returns, acquired): (Int64, Int64) = (0, .max)
        while let field = try? reader.next(in: delivery.bytes) {
            guard case .integer(let count) = field.value else { continue }
            let name = delivery.bytes.span.extracting(field.name)
            if name.isText(BrokerHeader.deliveryCount) { returns = count }
            if name.isText(BrokerHeader.acquiredCount) { acquired = count }
        }
        return min(max(0, min(returns, acquired)), Int64(UInt32.max))
    }

    /// Whether a message has the header `x-death`, or headers that cannot be read.
    static func hasDeaths(_ delivery: borrowing Delivery) -> Bool {
        do throws(AMQPError) {
            guard let table = try MessagePropertyReader(delivery.bytes, delivery.properties).headers else {
                return false
            }
            var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfFrames)
            while let field = try reader.next(in: delivery.bytes) {
                if delivery.bytes.span.extracting(field.name).isText(BrokerHeader.death) { return true }
            }
            return false
        } catch {
            return true
        }
    }

    /// Reads a delivery.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - poisonous: How often the delivery came back, if too often to be read; nil otherwise.
    ///   - now: The time, in milliseconds since 1970.
    ///   - returned: Is told the position of the tier from which a copy came back.
    func read(
        _ delivery: consuming Delivery, poisonous: Int64?, now: Int64, returned: (Int) -> Void
    ) -> Result<Job, JobDefect> {
        let isTruncated = delivery.isTruncated
        let (size, properties, exchange) = (delivery.bodySize, delivery.properties, delivery.exchange)
        var message = JobMessage(
            bytes: delivery.bytes, routingKey: delivery.routingKey, body: delivery.body,
            redelivered: delivery.redelivered)
        let damage: AMQPError?
        do throws(AMQPError) {
            let foreign = try Self.read(properties, into: &message)
            message.way = DeliveryWay(exchange: exchange, foreignDeath: foreign, in: message.bytes, trusting: trusted)
            damage = nil
        } catch {
            message.way = DeliveryWay(
                exchange: exchange, damagedHeadersOf: properties, in: message.bytes, trusting: trusted)
            damage = error
        }
        // Headers that cannot be used do not make an untrusted way better.
        if let damage {
            let reason: Reason = message.way.isUntrusted ? .untrustedSource : .badHeaders
            return .failure(refuse(message, reason, damage.message, now: now))
        }
        if let why = message.way.refusal(in: message.bytes) {
            return .failure(refuse(message, .untrustedSource, why, now: now))
        }
        if isTruncated {
            let detail = "the body has \(size) bytes, and a job may have \(JobDecoder.maximumBodyLength): split the job"
            return .failure(refuse(message, .bodyTooLarge, detail, now: now))
        }
        if let poisonous {
            let detail =
                "it came back to its queue \(poisonous) times: every worker that took it up may have died of it, or it "
                + "was given back that often, as by routes that are paused. Look whether workers died before it is "
                + "replayed"
            return .failure(refuse(message, .poison, detail, isUnread: true, now: now))
        }
        if message.way == .returned, let tier = tier(of: message, properties) { returned(tier) }
        guard let claim else {
            let detail =
                JobRoutingKey.mistake(message.routingKey, in: message.bytes.span)
                ?? "no route takes this routing key: check its environment and topic against the workers' routes"
            return .failure(refuse(message, .noRoute, detail, now: now))
        }
        if message.way == .published, isPublishedDirectly(exchange, in: message.bytes),
            JobRoutingKey(message.routingKey, in: message.bytes.span) == nil
        {
            // The exact keys of the queue's bindings are legible. Another key came with `CC` or `BCC`, which RabbitMQ
            // before 4.0.4 does not hold against topic permissions.
            let detail =
                "its routing key is not <environment>.<class>.<topic>, and CC or BCC led it here: publish it with its "
                + "own key"
            var defect = refuse(message, .untrustedSource, detail, now: now)
            defect.job.forgetPlace()
            return .failure(defect)
        }
        return judge(decoder.decode(message, now: now, random: random.next), claim)
    }

    /// Whether a producer published the message to `apns.jobs`, and not to an exchange of `jobs.from`.
    private func isPublishedDirectly(_ exchange: Range<Int>, in bytes: borrowing [UInt8]) -> Bool {
        let name = bytes.span.extracting(exchange)
        return name.isEqual(to: TopologyNames.jobs) || name.isEqual(to: TopologyNames.movingJobs)
    }

    /// Refuses a job that another route claims.
    private func judge(_ decoded: consuming Result<Job, JobDefect>, _ claim: RouteClaim) -> Result<Job, JobDefect> {
        switch decoded {
        case .success(var job):
            if !claim.covers(job) {
                return .failure(
                    proved(
                        job.refused(
                            .routingMismatch,
                            "environment and topic belong to another route than \(route), whose queue delivered the job"
                        )))
            }
            if job.firstRoutingKey != nil { keepFirstKey(of: &job) }
            return .success(job)
        case .failure(let defect): return .failure(proved(defect))
        }
    }

    private func refuse(
        _ message: consuming JobMessage, _ reason: Reason, _ detail: String, isUnread: Bool = false, now: Int64
    ) -> JobDefect {
        let isUntrusted = message.way.isUntrusted
        var defect =
            isUnread
            ? decoder.refuseUnread(message, reason, detail, now: now, random: random.next)
            : decoder.refuse(message, reason, detail, now: now, random: random.next)
        defect = proved(defect)
        if isUntrusted { defect.job.forgetPlace() }
        return defect
    }

    /// The refused job with the environment and the topic that its way proves: those of its routing key, or those that
    /// the route claims.
    private func proved(_ defect: consuming JobDefect) -> JobDefect {
        keepFirstKey(of: &defect.job)
        if !defect.job.hasLegibleKey, !(claim?.covers(defect.job) ?? false) { defect.job.forgetOwnPlace() }
        return defect
    }

    /// Lets a job that was moved keep its first routing key, if the route claims that. Anybody could have written it.
    private func keepFirstKey(of job: inout Job) {
        guard let place = job.firstPlace,
            claim?.covers(place.environment, job.bytes.span.extracting(place.topic)) != true
        else { return }
        job.forgetFirstRoutingKey()
    }

    /// The position of the tier from which a retry copy came back; nil where its headers name none.
    ///
    /// The broker names the queue in which a message died first. Workers of all versions write copies without the job's
    /// earlier deaths, so that queue is the copy's tier.
    private func tier(of copy: borrowing JobMessage, _ properties: Range<Int>) -> Int? {
        guard let table = try? MessagePropertyReader(copy.bytes, properties).headers else { return nil }
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
        while let field = try? reader.next(in: copy.bytes) {
            guard case .text(let queue) = field.value,
                copy.bytes.span.extracting(field.name).isText(BrokerHeader.firstDeathQueue)
            else { continue }
            return tiers.firstIndex { copy.bytes.span.extracting(queue).isEqual(to: $0) }
        }
        return nil
    }

    /// Notes in the message where its properties and headers are.
    ///
    /// - Returns: The queue that is not ours and that dead-lettered the message; nil if there is none.
    /// - Throws: `malformedTable`, also for headers over the limits.
    @discardableResult
    static func read(_ range: Range<Int>, into message: inout JobMessage) throws(AMQPError) -> Range<Int>? {
        let properties = try MessagePropertyReader(message.bytes, range)
        message.contentType = properties.contentType
        message.contentEncoding = properties.contentEncoding
        message.messageID = properties.messageID
        message.correlationID = properties.correlationID
        message.replyTo = properties.replyTo
        message.timestamp = properties.timestamp
        guard let table = properties.headers else { return nil }
        var foreign: Range<Int>?
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfFrames)
        while let field = try reader.next(in: message.bytes) {
            if foreign == nil { foreign = try DeliveryWay.foreignQueue(in: field, of: message.bytes) }
            guard let value = HeaderValue(field.value) else { continue }
            message.headers.take(name: field.name, value: value, in: message.bytes)
        }
        if table.count > FieldTableReader.maximumSize { try checkSize(of: table, in: message.bytes) }
        return foreign
    }

    /// Refuses headers that are too large, or whose copies would be. What a copy leaves out or writes anew does not
    /// count as the producer's.
    private static func checkSize(of table: Range<Int>, in bytes: borrowing [UInt8]) throws(AMQPError) {
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfFrames)
        var (kept, start) = (0, reader.offset)
        var largest = (size: 0, name: 0..<0)
        while let field = try reader.next(in: bytes) {
            let size = reader.offset - start
            start = reader.offset
            if size > largest.size { largest = (size, field.name) }
            if !JobCopy.isWrittenAnew(bytes.span.extracting(field.name)) { kept += size }
        }
        let isTooLarge = table.count > FieldTableReader.maximumSizeOfCopies
        guard isTooLarge || kept > FieldTableReader.maximumSize else { return }
        var error = FieldTableReader.tooLarge(
            isTooLarge ? table.count : kept,
            over: isTooLarge ? FieldTableReader.maximumSizeOfCopies : FieldTableReader.maximumSize)
        let name = String(decoding: bytes[largest.name], as: UTF8.self)
        error.message += "; the largest is \(name) with \(largest.size)"
        throw error
    }
}

extension Span where Element == UInt8 {
    /// Whether both spans hold the same bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for position in 0..<count where self[position] != other[position] { return false }
        return true
    }

    /// Whether these bytes begin with a text in UTF-8.
    func begins(with text: String) -> Bool {
        let length = text.utf8.count
        return count >= length && extracting(0..<length).isEqual(to: text)
    }

    /// Whether these bytes are a text in UTF-8.
    func isEqual(to text: String) -> Bool {
        var text = text
        return text.withUTF8 { isEqual(to: $0.span) }
    }
}
