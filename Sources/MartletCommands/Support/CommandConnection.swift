import BrokerClient
import EventLoop
import Glibc
import PushModel
import RabbitMQ
import Rig
import Topology

/// A command's connection to the broker: the blocking client, with failures that a command can end with.
final class CommandConnection {
    /// The user that is logged in.
    let user: String
    /// The virtual host.
    let virtualHost: String
    /// The broker's address, without the password.
    let description: String
    private let client: AMQPBlockingClient
    /// The messages that the broker has not answered yet, by the client's numbers.
    private var pending: [UInt64: (messageID: String, routingKey: String)] = [:]
    private var message = OutgoingMessage()
    /// How many messages may wait for their confirms: enough to hide the round trip to the broker.
    private static let window = 1000
    /// How many messages may come that the command has not taken. When it ends, it has to read past as many, each of
    /// 64 KiB as a rule.
    private static let ahead = 500
    /// How many messages were taken and are not acknowledged, and how many may be; nil where the consumer has a limit of
    /// its own.
    private var held: (count: Int, limit: Int)?
    /// The queue that is consumed, and how many of its messages came.
    private var consumed: (queue: String, count: Int)?

    private init(_ client: AMQPBlockingClient, _ endpoint: AMQPEndpoint) {
        self.client = client
        user = endpoint.user
        virtualHost = endpoint.virtualHost
        description = endpoint.redactedDescription
    }

    /// Connects and logs in at the first of several brokers that answers.
    ///
    /// - Parameters:
    ///   - target: The brokers.
    ///   - timeout: How long connecting and logging in may take, each.
    ///   - heartbeat: Whether the broker shall watch this connection with heartbeats. A command that may pause, for its
    ///     input or for its rate, must pass false.
    /// - Throws: `unreachable`, `refused`, or what is wrong with the target.
    static func open(
        _ target: BrokerSettings, timeout: Duration = .seconds(10), heartbeat: Bool = true
    ) throws(CommandFailure) -> CommandConnection {
        try open(target.endpoints(), timeout: timeout, heartbeat: heartbeat)
    }

    /// Connects and logs in at the first of several brokers that answers.
    ///
    /// - Parameters:
    ///   - endpoints: The brokers, in the order in which to try them.
    ///   - timeout: How long connecting and logging in may take, each.
    ///   - heartbeat: Whether the broker shall watch this connection.
    ///   - isCheck: Whether the command is `martlet check`. Then the remedies name settings.
    /// - Throws: `unreachable`, `refused`, or what is wrong with the target.
    static func open(
        _ endpoints: [AMQPEndpoint], timeout: Duration, heartbeat: Bool = true, isCheck: Bool = false
    ) throws(CommandFailure) -> CommandConnection {
        var last: CommandFailure?
        for var endpoint in endpoints {
            endpoint.connectionTimeout = timeout
            if !heartbeat { endpoint.heartbeat = 0 }
            do throws(AMQPError) {
                return CommandConnection(
                    try AMQPBlockingClient.connect(endpoint, clientName: "martlet command"), endpoint)
            } catch {
                last = failure(error, at: endpoint.redactedDescription, isLogin: true, isCheck: isCheck)
            }
        }
        throw last ?? CommandFailure(.configuration, "no broker is configured")
    }

    /// Ends the connection. Messages that were received and not settled go back to their queues.
    func close() {
        client.close()
    }

    /// Whether the broker lets nobody else write `x-death`.
    var provesDeaths: Bool { client.brokerVersion?.provesDeaths ?? false }

    // MARK: Queues

    /// Declares an exclusive queue: it exists as long as this connection.
    ///
    /// - Parameters:
    ///   - queue: Its name.
    ///   - maximumLength: The most messages that it keeps; beyond that the oldest are dropped. Nil for no limit.
    func declareExclusive(_ queue: String, maximumLength: Int?) throws(CommandFailure) {
        var arguments = FieldTable()
        if let maximumLength {
            arguments.entries = [
                .init(name: Array("x-max-length".utf8), value: .integer(Int64(maximumLength))),
                .init(name: Array("x-overflow".utf8), value: .text("drop-head")),
            ]
        }
        try run { client throws(AMQPError) in
            _ = try client.declareQueue(queue, exclusive: true, arguments: arguments)
        }
    }

    /// Binds a queue.
    func bind(_ queue: String, to exchange: String, key: String) throws(CommandFailure) {
        try run { client throws(AMQPError) in
            try client.bind(queue: queue, exchange: exchange, routingKey: key)
        }
    }

    /// How many messages wait in a queue.
    ///
    /// - Throws: `unreachable` if there is no such queue, or what ended the link.
    func messageCount(_ queue: String) throws(CommandFailure) -> Int { try depth(of: queue).messages }

    /// How many messages wait in a queue, and how many consumers it has.
    ///
    /// - Throws: `unreachable` if there is no such queue, or what ended the link.
    func depth(of queue: String) throws(CommandFailure) -> AMQPBlockingClient.QueueDepth {
        do throws(AMQPError) {
            return try client.depth(of: queue)
        } catch {
            var failure = Self.failure(error, at: description)
            // Only a queue with this prefix can be one of the topology, so for others the advice is another one.
            if error.replyCode == 404, !queue.hasPrefix(TopologyNames.queuePrefix) {
                failure.remedy = "Is the name right? See them all with: rabbitmqctl list_queues -p \(virtualHost) name"
            }
            throw failure
        }
    }

    /// Makes sure that there is an exchange.
    ///
    /// - Throws: `unreachable` if there is none, or what ended the link.
    func find(exchange name: String) throws(CommandFailure) {
        do throws(AMQPError) {
            try client.find(exchange: name)
        } catch {
            throw Self.failure(error, at: description)
        }
    }

    /// Why a queue's messages must not be taken only to be put back. In queues of jobs the broker counts each such
    /// delivery. Too many deliveries make a worker refuse a good job, and the broker drop it.
    ///
    /// - Parameter queue: The queue's name.
    /// - Returns: A sentence for the person at the command line; nil where looking does no harm.
    static func mistake(lookingAt queue: String) -> String? {
        guard TopologyNames.holdsJobs(queue) else { return nil }
        return "--queue \(queue.printable) holds jobs on their way: looking counts as a delivery, and jobs that were "
            + "delivered too often are given up. See how many wait with: martlet check"
    }

    // MARK: Receiving

    /// Starts to take messages from a queue.
    ///
    /// - Parameters:
    ///   - queue: Its name.
    ///   - prefetch: How many messages may be unsettled, at most 65,535; 0 for any number.
    ///   - offset: Where to begin in a stream, such as `5m` for five minutes ago; nil for a queue that is no stream.
    func consume(_ queue: String, prefetch: Int, from offset: String? = nil) throws(CommandFailure) {
        var arguments = FieldTable()
        if let offset {
            arguments.entries = [.init(name: Array("x-stream-offset".utf8), value: .text(offset))]
        }
        consumed = (queue, 0)
        try run { client throws(AMQPError) in
            try client.startConsuming(queue: queue, prefetch: UInt16(clamping: prefetch), arguments: arguments)
        }
    }

    /// Starts to take messages from a queue for a command that holds many of them until its end: a message that is handed
    /// back early would come again, first or behind the others. However many are held, only some hundred are under way.
    ///
    /// - Parameters:
    ///   - queue: Its name.
    ///   - waiting: How many messages the command wants.
    func consumeHolding(_ queue: String, waiting: Int) throws(CommandFailure) {
        let limit = min(waiting, Self.ahead)
        try consume(queue, prefetch: limit)
        held = (0, limit)
    }

    /// The next message.
    ///
    /// - Parameter timeout: How long to wait for it.
    /// - Returns: Nil if no message came in time.
    func next(timeout: Duration) throws(CommandFailure) -> BrokerMessage? {
        if let held, held.count >= held.limit {
            try run { client throws(AMQPError) in try client.raisePrefetch(by: UInt16(Self.ahead)) }
            self.held?.limit += Self.ahead
        }
        let delivery = try run { client throws(AMQPError) in try client.receive(timeout: timeout) }
        if delivery != nil {
            held?.count += 1
            consumed?.count += 1
        }
        return delivery.map(BrokerMessage.init)
    }

    /// The next message; nil where none comes in time, or before Ctrl-C.
    func next(before deadline: MonotonicTime) throws(CommandFailure) -> BrokerMessage? {
        repeat {
            if let message = try next(timeout: min(deadline - .now(), .milliseconds(200))) { return message }
        } while !Interrupt.isRequested && MonotonicTime.now() < deadline
        return nil
    }

    /// Acknowledges a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - upToHere: Whether to acknowledge all earlier messages, too.
    func acknowledge(_ message: BrokerMessage, upToHere: Bool) throws(CommandFailure) {
        try run { client throws(AMQPError) in try client.acknowledge(message.delivery, multiple: upToHere) }
        held?.count -= 1
    }

    /// Ends taking messages, and returns once the broker has every acknowledgement. Without this, closing the
    /// connection may lose acknowledgements, and their messages come back.
    func stopConsuming() throws(CommandFailure) {
        try run { client throws(AMQPError) in try client.stopConsuming() }
    }

    // MARK: Publishing

    /// Publishes a job, waiting only while too many are unconfirmed.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - exchange: The exchange.
    ///   - replyTo: The routing key for replies.
    ///   - note: Called with what became of this job or of earlier ones, where that is known by now.
    func publish(
        _ job: OutgoingJob, exchange: String = TopologyNames.jobs, replyTo: String?, _ note: (PublishFate) -> Void
    ) throws(CommandFailure) {
        message.reset()
        message.isMandatory = true
        message.setExchange(exchange.utf8.span)
        message.setRoutingKey(job.routingKey.utf8.span)
        message.setContentType(job.contentType.utf8.span)
        message.setMessageID(job.messageID.utf8.span)
        let now = JobIdentifier.now()
        message.setTimestamp(UInt64(max(0, now / 1000)))
        message.addHeader(HeaderName.enqueuedAt, integer: now)
        if let replyTo { message.setReplyTo(replyTo.utf8.span) }
        for header in job.headers {
            switch header.value {
            case .text(let text): message.addHeader(name: header.name.utf8.span, value: .text(text))
            case .integer(let number): message.addHeader(name: header.name.utf8.span, value: .integer(number))
            }
        }
        message.setBody(job.body.span)
        _ = try submit(message, routingKey: job.routingKey, note)
    }

    /// Publishes a message, waiting only while too many are unconfirmed.
    ///
    /// - Parameters:
    ///   - message: The message. No message that waits for its confirm may have the same id.
    ///   - routingKey: The message's routing key, which its fate repeats.
    ///   - note: Called with what became of this message or of earlier ones, where that is known by now.
    /// - Returns: The message's number, which its fate will have.
    func submit(
        _ message: borrowing OutgoingMessage, routingKey: String, _ note: (PublishFate) -> Void
    ) throws(CommandFailure) -> UInt64 {
        let id = String(decoding: message.messageID, as: UTF8.self)
        let number: UInt64
        do throws(AMQPError) {
            number = try client.submit(message, window: Self.window)
        } catch {
            throw Self.failure(error, at: description)
        }
        pending[number] = (id, routingKey)
        if number % 64 == 0 { try takeOutcomes(note) }
        return number
    }

    /// Waits, at most until Ctrl-C, and reads once a second what became of earlier messages.
    ///
    /// - Parameters:
    ///   - duration: How long to wait. After Ctrl-C it ends within a second.
    ///   - note: Called with what became of them.
    func pause(_ duration: Duration, _ note: (PublishFate) -> Void) throws(CommandFailure) {
        let second = Duration.seconds(1)
        var left = duration
        repeat {
            try takeOutcomes(note)
            usleep(UInt32(min(left, second) / .microseconds(1)))
            left -= second
        } while left > .zero && !Interrupt.isRequested
    }

    /// Waits until the broker has answered for every message.
    ///
    /// - Parameter note: Called with what became of each of them.
    func finishPublishing(_ note: (PublishFate) -> Void) throws(CommandFailure) {
        tell(try run { client throws(AMQPError) in try client.flush() }, note)
    }

    private func takeOutcomes(_ note: (PublishFate) -> Void) throws(CommandFailure) {
        tell(try run { client throws(AMQPError) in try client.takeOutcomes() }, note)
    }

    private func tell(_ outcomes: [(number: UInt64, result: PublishResult)], _ note: (PublishFate) -> Void) {
        for outcome in outcomes {
            guard let job = pending.removeValue(forKey: outcome.number) else { continue }
            let kind: PublishFate.Kind =
                switch outcome.result {
                case .confirmed: .confirmed
                case .nacked: .refused
                case .returned: .returned
                }
            note(
                PublishFate(
                    number: outcome.number, kind: kind, messageID: job.messageID, routingKey: job.routingKey))
        }
    }

    // MARK: Failures

    private func run<Result>(
        _ body: (AMQPBlockingClient) throws(AMQPError) -> Result
    ) throws(CommandFailure) -> Result {
        do throws(AMQPError) {
            return try body(client)
        } catch {
            throw Self.failure(error, consuming: consumed, at: description)
        }
    }

    /// `internal-error` of AMQP 0-9-1, which RabbitMQ gives when a process of its own has crashed.
    private static let internalError: UInt16 = 541

    /// The failure that a command ends with when the client fails. RabbitMQ may have crashed at a delivery: version 4
    /// does so at a message of an AMQP 1.0 producer with a value that AMQP 0-9-1 does not have, such as a UUID.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - consumed: The queue that is consumed, and how many of its messages came before; nil for none. Others may
    ///     have been lost on the way with the connection.
    ///   - place: The broker, without its password.
    static func failure(
        _ error: AMQPError, consuming consumed: (queue: String, count: Int)?, at place: String
    ) -> CommandFailure {
        guard error.replyCode == internalError, let (queue, count) = consumed else { return failure(error, at: place) }
        let position = count == 0 ? "among the first of \(queue)" : "in \(queue) behind at least \(count) others"
        return CommandFailure(
            .refused,
            "\(place): \(error): RabbitMQ has a message \(position) that it cannot deliver to this client, as a rule "
                + "one of an AMQP 1.0 producer with a value that AMQP 0-9-1 lacks, such as a UUID",
            remedy: "It keeps every reader from what stands behind it. Take this one message out with an AMQP 1.0 "
                + "client: the page DeadLetters shows how.")
    }

    /// What each user of `martlet topology render --users` is for.
    private static let roles =
        "\(BrokerRole.replayer.userName) reads dead letters and publishes them again, \(BrokerRole.monitor.userName) reads "
        + "results, reports and commands, \(BrokerRole.operator.userName) writes commands, and "
        + "\(BrokerRole.producer.userName) publishes jobs."

    /// The failure that a command ends with when the client fails.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - place: The broker, without its password.
    ///   - isLogin: Whether the client was connecting and logging in.
    ///   - isCheck: Whether the command is `martlet check`, which cannot be advised to run itself.
    static func failure(
        _ error: AMQPError, at place: String, isLogin: Bool = false, isCheck: Bool = false
    ) -> CommandFailure {
        let text = "\(place): \(error)"
        if error.replyCode == 404 {
            var failure = CommandFailure(
                .unreachable, text, remedy: "Create what is missing with: martlet topology apply --config worker.yaml")
            failure.lack = .object
            return failure
        }
        if error.isConsumerTimeout {
            return CommandFailure(
                .gaveUp, text,
                remedy: "RabbitMQ takes back what a reader holds for longer than consumer_timeout, usually 30 minutes. "
                    + "Run the command again, for fewer messages (--limit) or with a longer consumer_timeout.")
        }
        switch error.code {
        case .invalidURI: return CommandFailure(.configuration, text)
        case .unsuitable:
            var failure = CommandFailure(.refused, text)
            failure.lack = .means
            return failure
        case .refused where isLogin:
            return CommandFailure(
                .refused, text,
                remedy: "Check user, password and virtual host. Where a password file is named (broker.password_file, "
                    + "MARTLET_BROKER_PASSWORD_FILE), its password counts, not the one in the URI.")
        case .refused:
            return CommandFailure(.refused, text, remedy: "Log in as a user that may do this. \(roles)")
        case .channelClosed:
            return CommandFailure(
                .refused, text, remedy: "Check the virtual host and the permissions of the broker's user.")
        case .unresolved, .unreachable, .connectionClosed, .connectionLost, .heartbeatTimeout:
            let advice =
                isCheck
                ? "Compare host and port with broker.uri, and let firewalls on the way pass them."
                : "martlet check tests each step."
            return CommandFailure(.unreachable, text, remedy: "Is RabbitMQ running there? \(advice)")
        case .tls:
            let place = isCheck ? "in broker.tls.ca_file" : "with --broker-ca-file"
            return CommandFailure(
                .unreachable, text, remedy: "Name the broker's authority \(place) if it is your own.")
        case .timeout, .wouldBlock: return CommandFailure(.gaveUp, text)
        case .invalidMessage: return CommandFailure(.badInput, text)
        default: return CommandFailure(.internalFault, text)
        }
    }
}

extension AMQPError {
    /// Whether the broker closed a channel because messages were held for too long, as RabbitMQ does up to 4.2. Later
    /// versions end the consumer and give no reason.
    ///
    /// [Delivery acknowledgement timeout](https://www.rabbitmq.com/docs/consumers#acknowledgement-timeout)
    fileprivate var isConsumerTimeout: Bool {
        code == .channelClosed && replyCode == 406 && message.contains("delivery acknowledgement")
    }
}

/// Reading streams. A stream keeps the messages that were read.
extension CommandConnection {
    /// How long the first message of a stream may take, and how long the next one.
    private static let patience = (first: Duration.seconds(2), next: Duration.milliseconds(400))

    /// Takes the messages of the stream that is consumed. It ends after a pause without a message, and after Ctrl-C.
    ///
    /// - Parameters:
    ///   - time: After how long it ends in any case; nil for never.
    ///   - take: What to do with each message.
    func readStream(within time: Duration? = nil, _ take: (BrokerMessage) -> Void) throws(CommandFailure) {
        let end = time.map { ContinuousClock.now.advanced(by: $0) }
        var patience = Self.patience.first
        while !Interrupt.isRequested, end.map({ ContinuousClock.now < $0 }) ?? true,
            try takeFromStream(within: patience, take)
        {
            patience = Self.patience.next
        }
    }

    /// Takes the next message of the stream that is consumed.
    ///
    /// - Parameters:
    ///   - time: How long to wait for it.
    ///   - take: What to do with it.
    /// - Returns: False where no message came in time.
    func takeFromStream(within time: Duration, _ take: (BrokerMessage) -> Void) throws(CommandFailure) -> Bool {
        guard let message = try next(timeout: time) else { return false }
        take(message)
        // A stream keeps its messages: an acknowledgement only lets the broker send more.
        try acknowledge(message, upToHere: true)
        return true
    }
}
