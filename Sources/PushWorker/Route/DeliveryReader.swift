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
    private let decoder = JobDecoder()

    /// Creates the reader of one route.
    ///
    /// - Parameters:
    ///   - route: The name of the route.
    ///   - claim: Which (environment, topic) pairs may arrive; nil for the route that answers `NoRoute`.
    ///   - tiers: The tiers, in the order of their positions.
    init(route: String, claim: RouteClaim?, tiers: [RetryTier]) {
        self.route = route
        self.claim = claim
        self.tiers = tiers.map(\.queue)
    }

    /// How often a delivery came back, by the count of a quorum queue; 0 without a readable count. In other queues a
    /// producer may have written any number.
    static func returns(of delivery: borrowing Delivery) -> Int64 {
        guard let table = try? MessagePropertyReader(delivery.bytes, delivery.properties).headers else { return 0 }
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
        while let field = try? reader.next(in: delivery.bytes) {
            guard case .integer(let count) = field.value else { continue }
            guard delivery.bytes.span.extracting(field.name).isText(BrokerHeader.deliveryCount) else { continue }
            return min(max(0, count), Int64(UInt32.max))
        }
        return 0
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
        let (size, properties) = (delivery.bodySize, delivery.properties)
        var message = JobMessage(
            bytes: delivery.bytes, routingKey: delivery.routingKey, body: delivery.body,
            redelivered: delivery.redelivered)
        do throws(AMQPError) {
            try Self.read(properties, into: &message)
        } catch {
            return .failure(decoder.refuse(message, .badHeaders, error.message, now: now, random: Self.bits))
        }
        if isTruncated {
            let detail = "the body has \(size) bytes, and a job may have \(JobDecoder.maximumBodyLength): split the job"
            return .failure(decoder.refuse(message, .bodyTooLarge, detail, now: now, random: Self.bits))
        }
        if let poisonous {
            let detail =
                "it came back to its queue \(poisonous) times, and every worker that took it up may have "
                + "died of it: look for the cause before it is replayed"
            return .failure(decoder.refuseUnread(message, .poison, detail, now: now, random: Self.bits))
        }
        if message.headers.isCopy, let tier = tier(of: message, properties) { returned(tier) }
        guard let claim else {
            let detail =
                JobRoutingKey.mistake(message.routingKey, in: message.bytes.span)
                ?? "no route takes this routing key: check its environment and topic against the workers' routes"
            return .failure(decoder.refuse(message, .noRoute, detail, now: now, random: Self.bits))
        }
        let decoded = decoder.decode(message, now: now, random: Self.bits)
        guard case .success(let job) = decoded, !claim.covers(job) else { return decoded }
        return .failure(
            job.refused(
                .routingMismatch,
                "environment and topic belong to another route than \(route), whose queue delivered the job"))
    }

    /// Random bits for the id of a job that brings none.
    private static func bits() -> UInt64 { UInt64.random(in: 0 ... .max) }

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
    static func read(_ range: Range<Int>, into message: inout JobMessage) throws(AMQPError) {
        let properties = try MessagePropertyReader(message.bytes, range)
        message.contentType = properties.contentType
        message.contentEncoding = properties.contentEncoding
        message.messageID = properties.messageID
        message.correlationID = properties.correlationID
        message.replyTo = properties.replyTo
        message.timestamp = properties.timestamp
        if let table = properties.headers {
            // Headers that workers and brokers add to a job must not make the job exceed the limit for producers.
            let limit = FieldTableReader.maximumSize
            var mayBeLarger = table.count <= limit || message.redelivered
            var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
            while let field = try reader.next(in: message.bytes) {
                if !mayBeLarger { mayBeLarger = isAddition(message.bytes.span.extracting(field.name)) }
                guard let value = HeaderValue(field.value) else { continue }
                message.headers.take(name: field.name, value: value, in: message.bytes)
            }
            if !mayBeLarger { throw FieldTableReader.tooLarge(table.count, over: limit) }
        }
    }

    /// Whether a header shows that a worker published the message, or that the broker moved it.
    private static func isAddition(_ name: Span<UInt8>) -> Bool {
        name.isText(HeaderName.version) || name.isText(BrokerHeader.death)
    }
}

extension Span where Element == UInt8 {
    /// Whether both spans hold the same bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for position in 0..<count where self[position] != other[position] { return false }
        return true
    }

    /// Whether these bytes are a text in UTF-8.
    func isEqual(to text: String) -> Bool {
        var text = text
        return text.withUTF8 { isEqual(to: $0.span) }
    }
}
