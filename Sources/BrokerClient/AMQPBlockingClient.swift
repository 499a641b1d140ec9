import EventLoop
package import RabbitMQ

/// A simple, blocking client for command-line tools and tests; for one thread.
///
/// Like a worker it uses two connections. One consumes and manages queues. The other publishes, and is opened when it
/// is first needed. Heartbeats are sent only during calls: after a pause longer than a heartbeat, the caller may have
/// to reconnect.
package final class AMQPBlockingClient {
    private static let consuming: UInt16 = 1
    private static let managing: UInt16 = 2
    private static let publishing: UInt16 = 1

    private let targets: [BrokerTarget]
    private let clientName: String
    private let bodyLimit: Int
    /// How long an answer, or room to publish, may take.
    package let patience: Duration
    private let main: BlockingLink
    private var publisher: BlockingLink?
    /// The consumers, all of one queue.
    private var consumerTags: [String] = []
    private var consumedQueue = ""

    /// The broker's version; nil where its greeting has none.
    package var brokerVersion: BrokerVersion? { main.brokerVersion }

    private init(
        _ targets: [BrokerTarget], _ main: BlockingLink, clientName: String, bodyLimit: Int, patience: Duration
    ) {
        self.targets = targets
        self.main = main
        self.clientName = clientName
        self.bodyLimit = bodyLimit
        self.patience = patience
    }

    /// Looks a broker up, connects and logs in. The look-up has no time limit.
    ///
    /// - Parameters:
    ///   - endpoint: Where to connect.
    ///   - clientName: The name operators see in the broker's list of connections.
    ///   - bodyLimit: The largest body to receive whole, in bytes.
    ///   - patience: How long an answer, or room to publish, may take.
    /// - Returns: The client.
    /// - Throws: `unresolved`, `unreachable`, `tls`, `refused`, `timeout`, or another error of the login.
    package static func connect(
        _ endpoint: AMQPEndpoint, clientName: String, bodyLimit: Int = 134_217_728, patience: Duration = .seconds(30)
    ) throws(AMQPError) -> AMQPBlockingClient {
        try connect(
            to: try BrokerTarget.find(endpoint), clientName: clientName, bodyLimit: bodyLimit, patience: patience)
    }

    /// Connects and logs in at the first of some addresses where that succeeds.
    ///
    /// - Parameters:
    ///   - targets: The addresses, in the order in which they are tried.
    ///   - clientName: The name operators see in the broker's list of connections.
    ///   - bodyLimit: The largest body to receive whole, in bytes.
    ///   - patience: How long an answer, or room to publish, may take.
    /// - Returns: The client.
    /// - Throws: `unreachable`, `tls`, `refused`, `timeout`, or another error of the login. `unresolved` without
    ///   targets.
    package static func connect(
        to targets: [BrokerTarget], clientName: String, bodyLimit: Int, patience: Duration
    ) throws(AMQPError) -> AMQPBlockingClient {
        let link = try BlockingLink.connect(
            to: targets, clientName: clientName, bodyLimit: bodyLimit, consumes: true, patience: patience)
        return AMQPBlockingClient(targets, link, clientName: clientName, bodyLimit: bodyLimit, patience: patience)
    }

    /// Connects and logs in for publishing alone, over one connection; nothing can be consumed.
    ///
    /// - Parameters:
    ///   - targets: The addresses, in the order in which they are tried.
    ///   - clientName: The name operators see in the broker's list of connections.
    ///   - patience: How long an answer, or room to publish, may take.
    /// - Returns: The client.
    /// - Throws: As ``connect(to:clientName:bodyLimit:patience:)``.
    package static func connectToPublish(
        to targets: [BrokerTarget], clientName: String, patience: Duration
    ) throws(AMQPError) -> AMQPBlockingClient {
        let link = try BlockingLink.connect(
            to: targets, clientName: clientName, bodyLimit: 0, consumes: false, patience: patience)
        let client = AMQPBlockingClient(targets, link, clientName: clientName, bodyLimit: 0, patience: patience)
        try client.publish(over: link)
        return client
    }

    /// Ends both connections in an orderly way. Waits at most two seconds for each.
    package func close() {
        if publisher !== main { publisher?.close() }
        main.close()
    }

    // MARK: Publishing

    private func openPublisher() throws(AMQPError) -> BlockingLink {
        if let publisher { return publisher }
        let link = try BlockingLink.connect(
            to: targets, clientName: clientName, bodyLimit: 0, consumes: false, patience: patience)
        try publish(over: link)
        return link
    }

    private func publish(over link: BlockingLink) throws(AMQPError) {
        _ = try link.request(Self.publishing, "switching confirms on") { session throws(AMQPError) in
            try session.selectConfirms(Self.publishing)
        }
        publisher = link
    }

    /// Publishes a message and waits until the broker confirms or refuses it.
    ///
    /// Waits first until all earlier messages are confirmed or refused. Outcomes that were not taken before are
    /// dropped.
    ///
    /// - Parameter message: The message; a mandatory one needs a message id.
    /// - Returns: The broker's answer.
    /// - Throws: `invalidMessage`, `channelClosed` (missing exchange), `refused`, `timeout`, an error of the login, or
    ///   an error that ends the connection.
    package func publishConfirmed(_ message: borrowing OutgoingMessage) throws(AMQPError) -> PublishResult {
        let number = try submit(message, window: 1)
        for outcome in try flush() where outcome.number == number { return outcome.result }
        throw AMQPError(.protocolViolation, "the broker did not confirm the message it was waited for")
    }

    /// Publishes a message without waiting for its confirm, once fewer than `window` messages are unconfirmed.
    ///
    /// - Parameters:
    ///   - message: The message; a mandatory one needs a message id, different from those still unconfirmed.
    ///   - window: How many messages may be unconfirmed.
    /// - Returns: Its number, from 1.
    /// - Throws: As `publishConfirmed`.
    package func submit(_ message: borrowing OutgoingMessage, window: Int = 1000) throws(AMQPError) -> UInt64 {
        guard !message.isMandatory || !message.messageID.isEmpty else {
            throw AMQPError(.invalidMessage, "a mandatory message needs a message id")
        }
        let link = try openPublisher()
        try waitForConfirms(link, atMost: max(0, window - 1))
        return try link.publish(message, channel: Self.publishing)
    }

    /// Takes the outcomes that have arrived since the last call, without waiting.
    ///
    /// - Returns: Numbers as `submit` returned them, in the order of the confirms.
    /// - Throws: `channelClosed` or `refused` if the broker closed the channel, or an error that ends the connection.
    package func takeOutcomes() throws(AMQPError) -> [(number: UInt64, result: PublishResult)] {
        guard let publisher else { return [] }
        _ = try publisher.wait(until: .now()) { false }
        try publisher.checkChannel(Self.publishing, "publishing")
        defer { publisher.outcomes.removeAll(keepingCapacity: true) }
        return publisher.outcomes.map { ($0.number, $0.result) }
    }

    /// Waits until all published messages are confirmed or refused.
    ///
    /// - Returns: The outcomes not taken yet.
    /// - Throws: `timeout`, `channelClosed`, `refused`, or an error that ends the connection.
    package func flush() throws(AMQPError) -> [(number: UInt64, result: PublishResult)] {
        guard let publisher else { return [] }
        try waitForConfirms(publisher, atMost: 0)
        defer { publisher.outcomes.removeAll(keepingCapacity: true) }
        return publisher.outcomes.map { ($0.number, $0.result) }
    }

    /// How many messages are published and neither confirmed nor refused yet.
    package var unconfirmedCount: Int { publisher?.unconfirmed.count ?? 0 }

    private func waitForConfirms(_ link: BlockingLink, atMost count: Int) throws(AMQPError) {
        guard link.unconfirmed.count > count else { return try link.checkChannel(Self.publishing, "publishing") }
        var left = link.unconfirmed.count
        // The patience limits silence only: each confirm begins it anew.
        while left > count {
            let before = left
            let arrived = try link.wait(until: .now().adding(patience)) {
                link.unconfirmed.count <= count || link.unconfirmed.count < before || link.isClosed(Self.publishing)
            }
            try link.checkChannel(Self.publishing, "publishing")
            left = link.unconfirmed.count
            guard arrived else {
                let why = link.blockedReason.map { " (\($0))" } ?? ""
                throw AMQPError(.timeout, "no confirm from the broker within \(patience)\(why)")
            }
        }
    }

    // MARK: Consuming

    /// Changes the largest body that is received whole, from now on.
    ///
    /// - Parameter bytes: The largest body to receive whole, in bytes.
    package func limitBodies(to bytes: Int) { main.limitBodies(to: bytes) }

    /// Starts to consume from a queue.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - prefetch: How many unacknowledged deliveries may be under way.
    ///   - exclusive: Whether no one else may consume from the queue.
    ///   - arguments: Its optional arguments, such as `x-stream-offset`.
    /// - Throws: `channelClosed` (missing queue), `refused`, `timeout`, or an error that ends the connection.
    package func startConsuming(
        queue: String, prefetch: UInt16 = 100, exclusive: Bool = false, arguments: FieldTable = FieldTable()
    ) throws(AMQPError) {
        precondition(consumerTags.isEmpty, "the client consumes already")
        consumedQueue = queue
        try addConsumer("martlet", prefetch: prefetch, exclusive: exclusive, arguments: arguments)
    }

    /// Lets more deliveries be unacknowledged, by another consumer of the same queue. A consumer's own limit cannot be
    /// changed: [Consumer prefetch](https://www.rabbitmq.com/docs/consumer-prefetch).
    ///
    /// - Parameter count: How many more.
    /// - Throws: As ``startConsuming(queue:prefetch:exclusive:arguments:)``.
    package func raisePrefetch(by count: UInt16) throws(AMQPError) {
        precondition(!consumerTags.isEmpty, "the client does not consume")
        try addConsumer("martlet-\(consumerTags.count + 1)", prefetch: count)
    }

    private func addConsumer(
        _ tag: String, prefetch: UInt16, exclusive: Bool = false, arguments: FieldTable = FieldTable()
    ) throws(AMQPError) {
        _ = try main.request(Self.consuming, "limiting deliveries") { session throws(AMQPError) in
            try session.setPrefetch(Self.consuming, count: prefetch)
        }
        _ = try main.request(Self.consuming, "consuming from \(consumedQueue)") { session throws(AMQPError) in
            try session.startConsuming(
                Self.consuming, queue: consumedQueue, consumerTag: tag, exclusive: exclusive, arguments: arguments)
        }
        consumerTags.append(tag)
    }

    /// Whether a delivery has arrived that was not taken yet.
    package var hasReceived: Bool { !main.deliveries.isEmpty }

    /// Lets another thread use the client from now on: the thread of the next use.
    package func disown() {
        main.disown()
        publisher?.disown()
    }

    /// Waits for the next delivery.
    ///
    /// - Parameter timeout: How long.
    /// - Returns: Nil if none came in time.
    /// - Throws: `channelClosed` or `refused` if the channel or the queue went away, or an error that ends the
    ///   connection.
    package func receive(timeout: Duration) throws(AMQPError) -> Delivery? {
        let deadline = MonotonicTime.now().adding(timeout)
        _ = try main.wait(until: deadline) {
            !main.deliveries.isEmpty || main.consumersLost > 0 || main.isClosed(Self.consuming)
        }
        if let delivery = main.deliveries.takeFirst() { return delivery }
        if main.isClosed(Self.consuming) { consumerTags = [] }
        try main.checkChannel(Self.consuming, "consuming")
        guard main.consumersLost == 0 else {
            main.consumersLost = 0
            consumerTags = []
            throw AMQPError(
                .channelClosed, "the broker ended the consumer: its queue is gone, or it held messages for too long")
        }
        guard !main.deliveries.hasOverflowed else {
            throw AMQPError(
                .wouldBlock,
                "more than \(ReceivedDeliveries.mostBytes) bytes of messages came while the client waited for an answer"
            )
        }
        return nil
    }

    /// Ends the consumers; deliveries already received can still be taken and settled. Those that still come are
    /// dropped: the broker takes them back when the connection ends.
    ///
    /// - Throws: `channelClosed` if the channel went away; the broker may then have missed the last settlements.
    ///   `timeout`, or an error that ends the connection.
    package func stopConsuming() throws(AMQPError) {
        let tags = consumerTags
        consumerTags = []
        main.deliveries.isClosed = true
        defer { main.deliveries.isClosed = false }
        for tag in tags {
            try main.checkChannel(Self.consuming, "consuming")
            _ = try main.request(Self.consuming, "ending the consumer") { session throws(AMQPError) in
                try session.cancel(Self.consuming, consumerTag: tag)
            }
        }
    }

    /// Acknowledges a delivery.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - multiple: Whether all earlier deliveries of the channel are meant as well.
    /// - Throws: `channelClosed` if the channel went away, `timeout`, or an error that ends the connection.
    package func acknowledge(_ delivery: Delivery, multiple: Bool = false) throws(AMQPError) {
        try settle(delivery) { session throws(AMQPError) in
            try session.acknowledge(
                channel: delivery.channel, deliveryTag: delivery.deliveryTag, multiple: multiple)
        }
    }

    /// Rejects a delivery; without requeueing the broker dead-letters it.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - requeue: Whether it goes back to its queue.
    /// - Throws: `channelClosed` if the channel went away, `timeout`, or an error that ends the connection.
    package func reject(_ delivery: Delivery, requeue: Bool) throws(AMQPError) {
        try settle(delivery) { session throws(AMQPError) in
            try session.reject(channel: delivery.channel, deliveryTag: delivery.deliveryTag, requeue: requeue)
        }
    }

    /// Gives a delivery of the client's consumer back to its queue, as `basic.nack` does: RabbitMQ 4.3 does not count that
    /// as a failure.
    ///
    /// - Parameter deliveryTag: The delivery. Its channel must still be the one that delivered it.
    /// - Throws: `channelClosed` if the channel went away, `timeout`, or an error that ends the connection.
    package func giveBack(_ deliveryTag: UInt64) throws(AMQPError) {
        try settle(on: Self.consuming) { session throws(AMQPError) in
            try session.negativeAcknowledge(
                channel: Self.consuming, deliveryTag: deliveryTag, multiple: false, requeue: true)
        }
    }

    private func settle(
        _ delivery: Delivery, _ send: (AMQPSession) throws(AMQPError) -> Bool
    ) throws(AMQPError) {
        try settle(on: delivery.channel, send)
    }

    private func settle(
        on channel: UInt16, _ send: (AMQPSession) throws(AMQPError) -> Bool
    ) throws(AMQPError) {
        // A channel that is opened again under this number counts its tags anew.
        if main.isClosed(channel) { consumerTags = [] }
        try main.checkChannel(channel, "consuming")
        guard try main.insist({ session throws(AMQPError) in try send(session) }) else {
            throw AMQPError(.timeout, "the broker took no acknowledgement for \(patience)")
        }
    }

    /// Sends a request about queues. It uses a channel of its own, so that a refusal does not close the channel that
    /// consumes.
    ///
    /// - Parameters:
    ///   - request: The request. Only a `get` uses the channel that consumes.
    ///   - what: What it does, for errors.
    /// - Returns: The answer.
    /// - Throws: The broker's refusal, `timeout`, or an error that ends the connection.
    func ask(_ request: AMQPRequest, _ what: String) throws(AMQPError) -> AMQPAnswer {
        var channel = Self.managing
        if case .get = request { channel = Self.consuming }
        return try main.request(channel, what) { session throws(AMQPError) in try session.ask(request, on: channel) }
    }

    /// Takes the newest delivery, the answer to a `get`.
    ///
    /// - Returns: Nil if it did not arrive in time.
    /// - Throws: An error that ends the connection.
    func takeFetched() throws(AMQPError) -> Delivery? {
        guard try main.wait(until: .now().adding(patience), { !main.deliveries.isEmpty }) else { return nil }
        return main.deliveries.takeLast()
    }
}
