internal import CRabbitMQ
internal import EventLoop
internal import Glibc

/// One connection driven by waiting: a request is sent, and frames are read until its answer is there.
final class BlockingLink: AMQPConnectionDelegate {
    /// An answer to a request, with what tools want to know of it.
    enum Reply {
        /// It is done.
        case done
        /// A queue, by declaring or looking at it.
        case queue(name: String, messages: Int, consumers: Int)
        /// How many messages were removed.
        case count(Int)
        /// A fetched message follows as a delivery.
        case message
        /// There was none to fetch.
        case noMessage
    }

    /// What became of a published message.
    struct Outcome {
        /// Its number, from 1.
        var number: UInt64
        /// What the broker said.
        var result: PublishResult
    }

    /// The connection.
    let connection: AMQPConnection
    /// How long an answer may take.
    let patience: Duration
    /// Deliveries not taken yet, oldest first.
    var deliveries: [Delivery] = []
    /// Consumers that the broker ended.
    var consumersLost = 0
    /// Outcomes not taken yet, in the order of their arrival.
    var outcomes: [Outcome] = []
    /// Published and not confirmed: message ids by number.
    private(set) var unconfirmed: [UInt64: [UInt8]] = [:]
    private var lowestUnconfirmed: UInt64 = 1
    private var returnedIDs: [[UInt8]: UInt16] = [:]
    private var published: UInt64 = 0
    private var reply: Reply?
    private var closures: [UInt16: (code: UInt16, text: String)] = [:]
    private var openChannels: Set<UInt16> = []
    /// Why the broker does not read what is published, while it does not.
    private(set) var blockedReason: String?

    /// A link over an open connection.
    ///
    /// - Parameters:
    ///   - connection: the connection, handed over.
    ///   - patience: how long an answer may take.
    init(_ connection: AMQPConnection, patience: Duration) {
        self.connection = connection
        self.patience = patience
        connection.otherMethods = { [unowned self] _, method, decoded in self.take(method, decoded) }
    }

    // MARK: Waiting

    /// Reads frames until something has happened.
    ///
    /// - Parameters:
    ///   - deadline: when to give up.
    ///   - isDone: whether it has happened; asked before the first read, too.
    /// - Returns: false if the deadline came first.
    /// - Throws: an error that ends the connection.
    func wait(
        until deadline: MonotonicTime, _ isDone: () -> Bool
    ) throws(AMQPError) -> Bool {
        while !isDone() {
            let now = MonotonicTime.now()
            if try connection.read(frames: 256, delegate: self, now: now) { continue }
            if isDone() { break }
            if connection.isSuspect(now: now) {
                throw AMQPError(.heartbeatTimeout, "nothing was heard from the broker for 1.5 heartbeats")
            }
            guard now < deadline else { return false }
            let half = UInt64(max(1, connection.heartbeat)) * 500_000_000
            let limit = min(half, deadline.nanoseconds(since: now)) / 1_000_000 + 1
            var descriptor = pollfd(fd: connection.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, Int32(limit))
        }
        return true
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - channel: its channel, which is opened if necessary.
    ///   - what: what it does, for errors.
    ///   - send: sends it.
    /// - Returns: the answer.
    /// - Throws: the broker's refusal, `timeout`, or an error that ends the connection.
    func request(
        _ channel: UInt16, _ what: String, _ send: (AMQPConnection) throws(AMQPError) -> Void
    ) throws(AMQPError) -> Reply {
        if !openChannels.contains(channel) {
            _ = try exchange(channel, "opening a channel") { connection throws(AMQPError) in
                try connection.openChannel(channel)
            }
            openChannels.insert(channel)
        }
        return try exchange(channel, what, send)
    }

    private func exchange(
        _ channel: UInt16, _ what: String, _ send: (AMQPConnection) throws(AMQPError) -> Void
    ) throws(AMQPError) -> Reply {
        reply = nil
        closures[channel] = nil
        try send(connection)
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
    ///   - channel: the channel.
    ///   - what: what was being done.
    /// - Throws: `refused` or `channelClosed`, with the broker's code and words.
    func checkChannel(_ channel: UInt16, _ what: String) throws(AMQPError) {
        guard let closure = closures[channel] else { return }
        throw AMQPError(
            closure.code == 403 ? .refused : .channelClosed, "\(what): \(closure.text)", replyCode: closure.code)
    }

    /// Whether the broker has closed a channel since the last request on it.
    ///
    /// - Parameter channel: the channel.
    /// - Returns: true until the next request.
    func isClosed(_ channel: UInt16) -> Bool { closures[channel] != nil }

    // MARK: Publishing

    /// Publishes a message, waiting until the broker takes it.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - channel: a channel with confirms.
    /// - Returns: its number.
    /// - Throws: `invalidMessage`, `timeout` during an alarm, or an error that ends the connection.
    func publish(_ message: borrowing OutgoingMessage, channel: UInt16) throws(AMQPError) -> UInt64 {
        let deadline = MonotonicTime.now().adding(patience)
        while try !connection.publish(message, channel: channel) {
            try checkChannel(channel, "publishing")
            guard MonotonicTime.now() < deadline else {
                let why = blockedReason.map { ": \($0)" } ?? ""
                throw AMQPError(.timeout, "the broker took no message for \(patience)\(why)")
            }
            try waitForRoom()
        }
        published += 1
        unconfirmed[published] = Array(message.bytes[message.text(of: .messageID)])
        return published
    }

    /// Waits a moment in which the peer may take in something, and reads meanwhile.
    ///
    /// - Throws: an error that ends the connection.
    func waitForRoom() throws(AMQPError) {
        _ = try wait(until: .now().adding(.milliseconds(2))) { false }
        connection.refreshRoom()
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

    // MARK: AMQPConnectionDelegate, as documented there

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

    private func take(_ method: UInt32, _ decoded: UnsafeMutableRawPointer?) -> Bool {
        guard let decoded else { return false }
        switch method {
        case Method.queueDeclareOk:
            let answer = decoded.load(as: amqp_queue_declare_ok_t.self)
            let name = String(decoding: UnsafeRawBufferPointer(answer.queue), as: UTF8.self)
            reply = .queue(
                name: name, messages: Int(answer.message_count), consumers: Int(answer.consumer_count))
        case Method.queuePurgeOk: reply = .count(Int(decoded.load(as: amqp_queue_purge_ok_t.self).message_count))
        case Method.queueDeleteOk: reply = .count(Int(decoded.load(as: amqp_queue_delete_ok_t.self).message_count))
        case Method.queueBindOk, Method.exchangeDeclareOk: reply = .done
        case Method.basicGetOk: reply = .message
        case Method.basicGetEmpty: reply = .noMessage
        default: return false
        }
        return true
    }
}
