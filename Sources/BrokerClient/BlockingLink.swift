import EventLoop
import RabbitMQ

/// One connection for a caller that blocks: it sends a request, and reads frames until the answer is there.
final class BlockingLink: AMQPSessionDelegate {
    /// How the broker answered a published message.
    struct Outcome {
        /// Its number, from 1.
        var number: UInt64
        /// The broker's answer.
        var result: PublishResult
    }

    private let connection: BrokerConnection
    /// How long an answer may take.
    let patience: Duration
    /// Deliveries not taken yet.
    var deliveries = ReceivedDeliveries()
    /// Consumers that the broker ended.
    var consumersLost = 0
    /// Outcomes not taken yet, in the order of their arrival.
    var outcomes: [Outcome] = []
    /// The messages that are neither confirmed nor refused: message ids by number.
    private(set) var unconfirmed: [UInt64: [UInt8]] = [:]
    private var lowestUnconfirmed: UInt64 = 1
    private var returnedIDs: [[UInt8]: UInt16] = [:]
    private var published: UInt64 = 0
    private var reply: AMQPAnswer?
    private var closures: [UInt16: (code: UInt16, text: String)] = [:]
    private var openChannels: Set<UInt16> = []
    /// Why the broker does not read published messages; nil while it does.
    private(set) var blockedReason: String?

    /// The broker's version; nil where its greeting has none.
    var brokerVersion: BrokerVersion? { connection.session.brokerVersion }

    /// A link over a connection.
    ///
    /// - Parameters:
    ///   - connection: The connection, handed over.
    ///   - patience: How long an answer may take.
    init(_ connection: BrokerConnection, patience: Duration) {
        self.connection = connection
        self.patience = patience
    }

    /// Connects and logs in, trying each address in turn.
    ///
    /// - Parameters:
    ///   - targets: Where to connect and how to log in.
    ///   - clientName: The name operators see in the broker's list of connections.
    ///   - bodyLimit: The largest body to receive whole, in bytes.
    ///   - consumes: Whether messages are delivered on it.
    ///   - patience: How long an answer may take.
    /// - Returns: A link that is logged in.
    /// - Throws: `unresolved` without targets; `unreachable`, `tls`, `refused`, `timeout`, or another error of the
    ///   login.
    static func connect(
        to targets: [BrokerTarget], clientName: String, bodyLimit: Int, consumes: Bool, patience: Duration
    ) throws(AMQPError) -> BlockingLink {
        var failure = AMQPError(.unresolved, "no broker has an address")
        var refusing: Set<String> = []
        for target in targets where !refusing.contains(target.endpoint.host) {
            do throws(AMQPError) {
                let connection = try BrokerConnection(
                    target, clientName: clientName, bodyLimit: bodyLimit, consumes: consumes, now: .now())
                let link = BlockingLink(connection, patience: patience)
                while connection.stage != .open { try connection.wait(until: nil, delegate: link) }
                return link
            } catch {
                // Another address of the host leads to the same broker or cluster, which would only repeat a refusal.
                if ![.unreachable, .timeout, .connectionLost].contains(error.code) {
                    refusing.insert(target.endpoint.host)
                }
                failure = error
            }
        }
        throw failure
    }

    /// Changes the largest body that is received whole, in bytes, from now on.
    func limitBodies(to bytes: Int) { connection.session.bodyLimit = bytes }

    /// Lets another thread use the link from now on.
    func disown() { connection.session.disown() }

    /// Ends the connection in an orderly way, waiting at most two seconds. Frames that still arrive are dropped.
    func close() {
        connection.session.disown()
        connection.close(within: .seconds(2), delegate: self)
    }

    // MARK: Waiting

    /// Reads until a condition holds.
    ///
    /// - Parameters:
    ///   - deadline: When to give up.
    ///   - isDone: Whether the condition holds; asked before the first read, too.
    /// - Returns: False if the deadline came first.
    /// - Throws: An error that ends the connection.
    func wait(until deadline: MonotonicTime, _ isDone: () -> Bool) throws(AMQPError) -> Bool {
        while !isDone() {
            let isLate = MonotonicTime.now() >= deadline
            // Read once after the deadline, too: bytes that have arrived by then count.
            try connection.wait(until: deadline, delegate: self)
            if isDone() { break }
            if isLate { return false }
        }
        return true
    }

    /// Repeats a call of the session until there is room for its frames, or until the patience is over.
    ///
    /// - Parameter send: Makes the call; false if there was no room.
    /// - Returns: Whether the frames were sent.
    /// - Throws: What `send` throws, or an error that ends the connection.
    func insist(_ send: (AMQPSession) throws(AMQPError) -> Bool) throws(AMQPError) -> Bool {
        let deadline = MonotonicTime.now().adding(patience)
        while try !send(connection.session) {
            guard MonotonicTime.now() < deadline else { return false }
            try connection.wait(until: deadline, delegate: self)
        }
        try connection.flush(self, now: .now())
        return true
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - channel: Its channel, which is opened if necessary.
    ///   - what: What it does, for errors.
    ///   - send: Sends it.
    /// - Returns: The answer.
    /// - Throws: The broker's refusal, `timeout`, or an error that ends the connection.
    func request(
        _ channel: UInt16, _ what: String, _ send: (AMQPSession) throws(AMQPError) -> Void
    ) throws(AMQPError) -> AMQPAnswer {
        if !openChannels.contains(channel) {
            _ = try exchange(channel, "opening a channel") { session throws(AMQPError) in
                try session.openChannel(channel)
            }
            openChannels.insert(channel)
        }
        return try exchange(channel, what, send)
    }

    private func exchange(
        _ channel: UInt16, _ what: String, _ send: (AMQPSession) throws(AMQPError) -> Void
    ) throws(AMQPError) -> AMQPAnswer {
        reply = nil
        closures[channel] = nil
        try send(connection.session)
        let deadline = MonotonicTime.now().adding(patience)
        guard try wait(until: deadline, { reply != nil || closures[channel] != nil }) else {
            throw AMQPError(.timeout, "\(what): no answer from the broker within \(patience)")
        }
        try checkChannel(channel, what)
        return reply ?? .done
    }

    /// Throws if the broker has closed a channel since the last request on it.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - what: What was being done.
    /// - Throws: `refused` or `channelClosed`, with the broker's code and words.
    func checkChannel(_ channel: UInt16, _ what: String) throws(AMQPError) {
        guard let closure = closures[channel] else { return }
        throw AMQPError(
            closure.code == 403 ? .refused : .channelClosed, "\(what): \(closure.text)", replyCode: closure.code)
    }

    /// Whether the broker has closed a channel since the last request on it.
    ///
    /// - Parameter channel: The channel.
    /// - Returns: True until the next request.
    func isClosed(_ channel: UInt16) -> Bool { closures[channel] != nil }

    // MARK: Publishing

    /// Publishes a message, waiting until the broker takes it.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - channel: A channel with confirms.
    /// - Returns: Its number.
    /// - Throws: `invalidMessage`, `channelClosed`, `refused`, `timeout` where the broker takes nothing (an alarm, for
    ///   example), or an error that ends the connection.
    func publish(_ message: borrowing OutgoingMessage, channel: UInt16) throws(AMQPError) -> UInt64 {
        let isPublished = try insist { session throws(AMQPError) in
            try checkChannel(channel, "publishing")
            return try session.publish(message, channel: channel)
        }
        guard isPublished else {
            let why = blockedReason.map { ": \($0)" } ?? ""
            throw AMQPError(.timeout, "the broker took no message for \(patience)\(why)")
        }
        published += 1
        unconfirmed[published] = Array(message.messageID)
        return published
    }

    private func settle(_ number: UInt64, positive: Bool) {
        guard let id = unconfirmed.removeValue(forKey: number) else { return }
        let code = id.isEmpty ? nil : returnedIDs.removeValue(forKey: id)
        let result: PublishResult =
            if let code { .returned(code == 312 ? "no queue is bound for it" : "returned with code \(code)") } else {
                positive ? .confirmed : .nacked
            }
        outcomes.append(Outcome(number: number, result: result))
    }

    // MARK: AMQPSessionDelegate, as documented there

    func channelOpened(_ channel: UInt16) { reply = .done }
    func qosSet(_ channel: UInt16) { reply = .done }
    func consumeStarted(_ channel: UInt16, consumerTag: [UInt8]) { reply = .done }
    func consumeCancelled(_ channel: UInt16, consumerTag: [UInt8], byBroker: Bool) {
        if byBroker { consumersLost += 1 } else { reply = .done }
    }
    func confirmsSelected(_ channel: UInt16) { reply = .done }
    func channelClosed(_ channel: UInt16, code: UInt16, text: String) {
        openChannels.remove(channel)
        closures[channel] = (code, text)
    }
    func connectionClosed(code: UInt16, text: String) {}
    func connectionBlocked(reason: String) { blockedReason = reason }
    func connectionUnblocked() { blockedReason = nil }
    func delivered(_ delivery: consuming Delivery) { deliveries.append(delivery) }
    func returned(
        channel: UInt16, code: UInt16, messageID: Span<UInt8>, exchange: Span<UInt8>, routingKey: Span<UInt8>
    ) {
        returnedIDs[messageID.withUnsafeBufferPointer { Array($0) }] = code
    }
    func confirmed(channel: UInt16, tag: UInt64, multiple: Bool, positive: Bool) {
        guard multiple else { return settle(tag, positive: positive) }
        while lowestUnconfirmed <= min(tag, published) {
            settle(lowestUnconfirmed, positive: positive)
            lowestUnconfirmed += 1
        }
    }
    func answered(_ channel: UInt16, _ answer: AMQPAnswer) { reply = answer }
}
