import PushModel
import RabbitMQ
import Topology

extension DeliveryWay {
    /// Decides how a message came.
    ///
    /// Nobody but an administrator of the broker can write to the exchanges of tiers, bind something to `apns.return`,
    /// or dead-letter to it. Producers can publish to `apns.jobs`, bind exchanges of their own to it, and let their own
    /// queues dead-letter to it. The broker's topic permissions cover the first of these only
    /// (<https://www.rabbitmq.com/docs/access-control#topic-authorisation>). A message that goes on to an alternate
    /// exchange, or through bound exchanges, keeps the name of the first exchange.
    ///
    /// - Parameters:
    ///   - exchange: The exchange of the delivery.
    ///   - foreignDeath: What `foreignQueue(in:of:)` found in the headers.
    ///   - bytes: The buffer.
    ///   - trusted: The exchanges of `jobs.from`.
    init(
        exchange: Range<Int>, foreignDeath: Range<Int>?, in bytes: borrowing [UInt8], trusting trusted: [[UInt8]]
    ) {
        let name = bytes.span.extracting(exchange)
        if name.isEqual(to: TopologyNames.jobs) || name.isEqual(to: TopologyNames.movingJobs) {
            self = foreignDeath.map(DeliveryWay.deadLetters) ?? .published
        } else if name.isEqual(to: TopologyNames.returns) || name.isEqual(to: TopologyNames.movingReturns) {
            self = .returned
        } else if name.isEmpty {
            self = .moved
        } else {
            self = trusted.contains { name.isEqual(to: $0.span) } ? .published : .exchange(exchange)
        }
    }

    /// Decides how a message came whose headers are damaged or over a limit. What cannot be read may name a foreign queue.
    init(
        exchange: Range<Int>, damagedHeadersOf properties: Range<Int>, in bytes: borrowing [UInt8],
        trusting trusted: [[UInt8]]
    ) {
        do throws(AMQPError) {
            var foreign: Range<Int>?
            if let table = try MessagePropertyReader(bytes, properties).headers {
                var reader = FieldTableReader(table, maximumDepth: Self.depth, maximumSize: Self.size)
                while foreign == nil, let field = try reader.next(in: bytes) {
                    foreign = try Self.foreignQueue(in: field, of: bytes)
                }
            }
            self.init(exchange: exchange, foreignDeath: foreign, in: bytes, trusting: trusted)
        } catch {
            self = .exchange(exchange)
        }
    }

    /// More than any broker writes. A producer's tables must not hide what the broker wrote beside them.
    private static var depth: Int { 64 }
    private static var size: Int { FieldTableReader.maximumSizeOfFrames }

    /// The queue that dead-lettered a message and is not ours; nil if there is none, or if the header is another one.
    ///
    /// The broker adds each queue that dead-letters a message to `x-death`. Up to version 3.13 producers can write the
    /// header, too. So foreign queues in it count, and our own queues in it prove nothing.
    ///
    /// - Parameters:
    ///   - field: A header.
    ///   - bytes: The buffer.
    /// - Throws: `malformedTable` if the header is damaged.
    static func foreignQueue(in field: Field, of bytes: borrowing [UInt8]) throws(AMQPError) -> Range<Int>? {
        guard case .array(let deaths) = field.value, bytes.span.extracting(field.name).isText(BrokerHeader.death) else {
            return nil
        }
        var reader = FieldTableReader(elements: deaths, maximumDepth: depth, maximumSize: size)
        while let death = try reader.next(in: bytes) {
            guard case .table(let entries) = death.value else { continue }
            var reader = FieldTableReader(entries, maximumDepth: depth, maximumSize: size)
            while let entry = try reader.next(in: bytes) {
                guard case .text(let queue) = entry.value, bytes.span.extracting(entry.name).isText("queue"),
                    !isOurs(bytes.span.extracting(queue))
                else { continue }
                return queue
            }
        }
        return nil
    }

    /// Whether a queue's name is one that no client can give to a queue of its own.
    private static func isOurs(_ queue: Span<UInt8>) -> Bool {
        queue.begins(with: TopologyNames.queuePrefix)
            && !TopologyNames.clientQueuePrefixes.contains { queue.begins(with: $0) }
    }

    /// Why a job that came this way is refused; nil if it is not.
    ///
    /// - Parameter bytes: The buffer.
    func refusal(in bytes: borrowing [UInt8]) -> String? {
        switch self {
        case .returned, .published, .moved: return nil
        case .exchange(let range):
            let name = String(decoding: bytes[range], as: UTF8.self)
            return "the job came by the exchange \(name), which may not lead jobs to workers: publish to "
                + "\(TopologyNames.jobs), or let an operator name the exchange in jobs.from"
        case .deadLetters(let range):
            let name = String(decoding: bytes[range], as: UTF8.self)
            return "the queue \(name) led the job to \(TopologyNames.jobs) as a dead letter, by the header "
                + "\(BrokerHeader.death): strip that header before publishing the job again"
        }
    }
}
