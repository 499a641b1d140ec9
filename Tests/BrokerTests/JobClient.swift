import BrokerClient
import Foundation
import LocalStack
import RabbitMQ
import TestSupport
import Testing

/// Publishes jobs and reads what became of them, as a producer and its monitoring do. For one thread.
final class JobClient {
    private let stack: BrokerStack
    private let producer: AMQPBlockingClient
    private var readers: [String: AMQPBlockingClient] = [:]
    private var unclaimed: [String: [ReceivedMessage]] = [:]
    /// Every result and dead letter that was read has to obey the contract's schemas, and so have the headers of jobs
    /// that a worker took.
    private let contract = ContractCheck()
    /// What was published, by its correlation id, until a worker took it.
    private var published: [String: TestJob] = [:]
    /// How long a message may take to come.
    static let patience = Duration.seconds(60)

    init(_ stack: BrokerStack) throws {
        self.stack = stack
        producer = try stack.connect()
    }

    /// Ends all connections; what was read is acknowledged already, and obeyed the schemas.
    func close() {
        producer.close()
        for reader in readers.values { reader.close() }
        do {
            #expect(try contract.problems() == [])
        } catch {
            Issue.record("the schemas cannot be checked: \(error)")
        }
    }

    private func take(_ delivery: Delivery) throws -> ReceivedMessage {
        contract.note(delivery)
        return try ReceivedMessage(delivery)
    }

    // MARK: Publishing

    /// Publishes a job and waits for its confirm.
    func publish(_ job: TestJob, as correlation: String) throws {
        let result = try producer.publishConfirmed(try message(job, correlation))
        guard result == .confirmed else { throw RingFailure("the broker did not take \(correlation): \(result)") }
    }

    /// Publishes many jobs, then waits for their confirms.
    func publish(_ jobs: [(job: TestJob, correlation: String)]) throws {
        for job in jobs { _ = try producer.submit(try message(job.job, job.correlation)) }
        for outcome in try producer.flush() where outcome.result != .confirmed {
            throw RingFailure("the broker did not take message \(outcome.number): \(outcome.result)")
        }
    }

    /// Publishes a job whose header table is given byte by byte, through a client that writes it unseen.
    func publish(_ job: TestJob, wireHeaders: [UInt8], as correlation: String) throws {
        let fields: [String: Any?] = [
            "exchange": job.exchange, "routing_key": String(decoding: job.routingKey, as: UTF8.self),
            "content_type": job.contentType, "correlation_id": correlation,
            "message_id": job.messageID.map { String(decoding: $0, as: UTF8.self) } ?? correlation,
            "headers": Hex.text(wireHeaders), "body": Hex.text(job.body),
        ]
        let line = try JSONSerialization.data(withJSONObject: fields.mapValues { $0 ?? NSNull() as Any })
        _ = try stack.python("publish.py", input: String(decoding: line, as: UTF8.self) + "\n")
    }

    /// A good job of the same route.
    func publishGoodJob(as correlation: String, topic: String = "com.example.app") throws {
        try publish(
            .raw(token: .text(Tokens.good)).keyed("development.normal.\(topic)"), as: correlation)
    }

    private func message(_ job: TestJob, _ correlation: String) throws -> OutgoingMessage {
        published[correlation] = job
        var message = OutgoingMessage()
        message.isMandatory = true
        message.setExchange(Array(job.exchange.utf8).span)
        message.setRoutingKey(job.routingKey.span)
        if let type = job.contentType { message.setContentType(Array(type.utf8).span) }
        if let encoding = job.contentEncoding { message.setContentEncoding(Array(encoding.utf8).span) }
        let correlationID = Array(correlation.utf8)
        let messageID = job.messageID ?? correlationID
        message.setMessageID(messageID.span)
        message.setCorrelationID(correlationID.span)
        if let address = job.replyTo { message.setReplyTo(Array(address.utf8).span) }
        if let expiration = job.expiration { message.setExpiration(Array(expiration.utf8).span) }
        message.setType("ring.job")
        for header in job.headers { message.addHeader(name: header.name.span, value: header.value) }
        message.setBody(job.body.span)
        return message
    }

    // MARK: Reading

    /// Makes an exclusive queue that copies what an exchange gets, read like any other queue.
    ///
    /// - Returns: Its name.
    func tap(_ exchange: String, key: String = "#", name: String = "") throws -> String {
        let reader = try stack.connect()
        let queue = try reader.declareQueue(name, exclusive: true)
        try reader.bind(queue: queue, exchange: exchange, routingKey: key)
        try reader.startConsuming(queue: queue)
        readers[queue] = reader
        return queue
    }

    /// Waits for the next message of a correlation id in a queue, and takes it.
    func next(_ correlation: String, from queue: String) throws -> ReceivedMessage {
        let key = "\(queue) \(correlation)"
        if unclaimed[key]?.isEmpty == false, let first = unclaimed[key]?.removeFirst() { return first }
        let reader = try reader(of: queue)
        let deadline = ContinuousClock.now.advanced(by: Self.patience)
        while ContinuousClock.now < deadline {
            guard let delivery = try reader.receive(timeout: .milliseconds(500)) else { continue }
            let message = try take(delivery)
            try reader.acknowledge(delivery)
            let id = message.correlationID.map { String(decoding: $0, as: UTF8.self) } ?? ""
            if id == correlation { return message }
            unclaimed["\(queue) \(id)", default: []].append(message)
        }
        throw RingFailure("nothing of \(correlation) came to \(queue) within \(Self.patience)")
    }

    /// Expects that a queue holds nothing that was not asked for.
    func expectNothing(in queue: String, at location: SourceLocation = #_sourceLocation) throws {
        let rest = try rest(of: queue).map { message in
            let name = String(decoding: message.correlationID ?? [], as: UTF8.self)
            let result = try? JobResult.parse(message.body)
            return "\(name): \(result?.summary ?? "no result")\(result?.redelivered == true ? ", redelivered" : "")"
        }
        #expect(rest.isEmpty, "\(queue) also holds \(rest.prefix(5))", sourceLocation: location)
    }

    private func rest(of queue: String) throws -> [ReceivedMessage] {
        let reader = try reader(of: queue)
        var messages = unclaimed.filter { $0.key.hasPrefix("\(queue) ") }.flatMap(\.value)
        // The queue's own depth says whether more is to come; what is under way arrives in a moment.
        repeat {
            while let delivery = try reader.receive(timeout: .milliseconds(100)) {
                messages.append(try take(delivery))
                try reader.acknowledge(delivery)
            }
        } while try reader.depth(of: queue).messages > 0
        return messages
    }

    /// Waits for the next result of a correlation id.
    func result(_ correlation: String) throws -> (message: ReceivedMessage, result: JobResult) {
        let message = try next(correlation, from: "apns.q.results")
        let result = try JobResult.parse(message.body)
        // What a worker calls invalid may break the schemas.
        if result.outcome != "invalid", let job = published.removeValue(forKey: correlation) {
            contract.note(
                jobHeaders: FieldTable(entries: job.headers),
                isRaw: job.contentType?.lowercased().hasPrefix("application/vnd.apns") ?? false, about: correlation)
        }
        return (message, result)
    }

    private func reader(of queue: String) throws -> AMQPBlockingClient {
        if let known = readers[queue] { return known }
        let reader = try stack.connect()
        try reader.startConsuming(queue: queue)
        readers[queue] = reader
        return reader
    }
}
