import DequeModule
import EventLoop

/// One queue: a quorum queue, a client's exclusive queue, or a stream.
///
/// A quorum queue hands out its messages in order, counts how often each came back, ends those that came back too often
/// or have lived too long, and is sometimes without a leader. Then it takes nothing and says nothing, and goes on later.
final class ModelQueue {
    enum Kind: Equatable {
        case quorum
        case stream
        /// A classic queue that belongs to one connection.
        case exclusive(owner: Int)
    }

    /// One message in the queue.
    struct Entry {
        let position: Int
        var message: ModelMessage
        /// How often it came back.
        var returns = 0
        /// How often it came back because its consumer failed. RabbitMQ 4.3 counts these apart.
        var failures = 0
        var expiresAt: MonotonicTime?

        var size: Int { message.body.count }
    }

    /// How a message came back.
    enum Return {
        /// The client gave it back by `basic.nack`.
        case givenBack
        /// The client rejected it, or is gone.
        case failed
    }

    /// How many messages at-least-once dead-lettering has under way, and how long it waits for an answer.
    /// (rabbit_fifo_dlx_worker: prefetch 32, settle timeout 3 min)
    private static let deadLetterWindow = 32
    private static let deadLetterPatience = Duration.seconds(180)

    let name: String
    let kind: Kind
    let arguments: WireTable
    var settings = ModelQueueSettings()
    private(set) unowned var broker: ModelBroker

    /// What came back, to be delivered before all else.
    private var returned = Deque<Entry>()
    private var ready = Deque<Entry>()
    /// The whole log of a stream.
    private(set) var log: [Entry] = []
    private var next = 0
    private(set) var consumers: [ModelConsumer] = []
    /// How many messages are with consumers.
    private(set) var unacknowledged = 0
    private var bytes = 0
    private var letters: [(entry: Entry, reason: ModelMessage.Death, tried: MonotonicTime?)] = []
    /// Until when the queue has no leader; nil with a leader.
    private(set) var leaderlessUntil: MonotonicTime?
    /// Publications that wait for a leader.
    private var waiting: [(message: ModelMessage, confirm: ModelConfirm?)] = []

    init(_ name: String, _ kind: Kind, arguments: WireTable, broker: ModelBroker) {
        self.name = name
        self.kind = kind
        self.arguments = arguments
        self.broker = broker
    }

    var readyCount: Int { kind == .stream ? log.count : returned.count + ready.count }
    /// All messages that are in the queue, with those at consumers and those on their way to the dead-letter exchange.
    var count: Int { readyCount + unacknowledged + letters.count }
    /// The messages that stand in the queue and are with nobody.
    var messages: [ModelMessage] {
        (Array(returned) + Array(ready) + log).map(\.message) + letters.map(\.entry.message)
    }

    // MARK: In

    private var isFull: Bool {
        count >= settings.maxLength ?? .max || bytes >= settings.maxBytes ?? .max
    }

    func publish(_ message: ModelMessage, confirm: ModelConfirm?) {
        guard leaderlessUntil == nil else { return waiting.append((message, confirm)) }
        if settings.rejectsPublish, kind == .quorum, isFull {
            confirm?.refused()
            return
        }
        let lives = [settings.ttl, message.properties.expiration].compactMap(\.self).min()
        let entry = Entry(
            position: next, message: message, returns: message.deliveredBefore, failures: message.deliveredBefore,
            expiresAt: kind == .stream ? nil : lives.map { broker.now + .milliseconds($0) })
        next += 1
        if kind == .stream { log.append(entry) } else { ready.append(entry) }
        bytes += entry.size
        confirm?.stored()
        while !settings.rejectsPublish, kind != .stream, dropsHead() {}
        broker.touched(self)
    }

    private func dropsHead() -> Bool {
        guard count > settings.maxLength ?? .max || bytes > settings.maxBytes ?? .max else { return false }
        guard let entry = returned.popFirst() ?? ready.popFirst() else { return false }
        end(entry, .maxlen)
        return true
    }

    // MARK: Out

    func add(_ consumer: ModelConsumer) {
        consumers.append(consumer)
        broker.touched(self)
    }

    func remove(_ consumer: ModelConsumer) { consumers.removeAll { $0 === consumer } }

    /// Hands out what may go out. Consumers of one priority take turns.
    func deliver() {
        guard leaderlessUntil == nil else { return }
        if kind == .stream { return deliverLog() }
        expire()
        while !returned.isEmpty || !ready.isEmpty, let consumer = nextConsumer() {
            guard let entry = returned.popFirst() ?? ready.popFirst() else { return }
            unacknowledged += 1
            consumer.deliver(entry, from: self)
            expire()
        }
    }

    private func nextConsumer() -> ModelConsumer? {
        let ready = consumers.filter(\.hasCredit)
        guard let highest = ready.map(\.priority).max(), let consumer = ready.first(where: { $0.priority == highest })
        else { return nil }
        remove(consumer)
        consumers.append(consumer)
        return consumer
    }

    private func deliverLog() {
        for consumer in consumers {
            while consumer.hasCredit, consumer.offset < log.count {
                var entry = log[consumer.offset]
                entry.message.setHeader("x-stream-offset", .long(Int64(consumer.offset)))
                consumer.offset += 1
                consumer.deliver(entry, from: self)
            }
        }
    }

    /// Takes one message without a consumer.
    func get() -> Entry? {
        guard leaderlessUntil == nil, kind != .stream else { return nil }
        expire()
        guard let entry = returned.popFirst() ?? ready.popFirst() else { return nil }
        unacknowledged += 1
        broker.touched(self)
        return entry
    }

    /// How an entry looks when it is delivered: with the broker's counts.
    ///
    /// - Parameter isFetched: Whether `basic.get` asked for it. RabbitMQ 3.10 then writes a count of 0, too.
    func outgoing(_ entry: Entry, isFetched: Bool = false) -> (message: ModelMessage, isRedelivered: Bool) {
        var message = entry.message
        guard kind == .quorum, entry.returns > 0 || isFetched && broker.version == .release310 else {
            return (message, entry.returns > 0)
        }
        switch broker.version {
        case .release310, .release40: message.setHeader("x-delivery-count", .long(Int64(entry.returns)))
        case .release43:
            message.setHeader("x-acquired-count", .long(Int64(entry.returns)))
            if entry.failures > 0 { message.setHeader("x-delivery-count", .long(Int64(entry.failures))) }
        }
        return (message, entry.returns > 0)
    }

    // MARK: Settled

    func acknowledged(_ entry: Entry) {
        guard kind != .stream else { return }
        unacknowledged -= 1
        bytes -= entry.size
        broker.touched(self)
    }

    /// Ends a message that its consumer refused.
    func rejected(_ entry: Entry) {
        guard kind != .stream else { return }
        unacknowledged -= 1
        end(entry, .rejected)
    }

    func takeBack(_ entry: Entry, _ how: Return) {
        guard kind != .stream else { return }
        unacknowledged -= 1
        broker.returned(entry.message)
        var entry = entry
        entry.returns += 1
        if how == .failed { entry.failures += 1 }
        let counted = broker.version == .release43 ? entry.failures : entry.returns
        let limit = settings.deliveryLimit ?? (broker.version == .release310 ? nil : 20)
        if kind == .quorum, let limit, counted > limit {
            end(entry, .deliveryLimit)
        } else if limit == nil, kind == .quorum {
            // Without a limit a message goes to the tail.
            ready.append(entry)
        } else {
            returned.append(entry)
        }
        broker.touched(self)
    }

    func purge() -> Int {
        let count = readyCount
        bytes -= (returned + ready).map(\.size).reduce(0, +)
        returned.removeAll()
        ready.removeAll()
        broker.touched(self)
        return count
    }

    // MARK: Ends of messages

    /// Ends what has lived too long. Only the head of a queue is looked at.
    private func expire() {
        while let head = returned.first ?? ready.first, let time = head.expiresAt, time <= broker.now {
            if returned.popFirst() == nil { _ = ready.popFirst() }
            end(head, .expired)
        }
    }

    private func end(_ entry: Entry, _ reason: ModelMessage.Death) {
        broker.touched(self)
        guard let exchange = settings.deadLetterExchange, settings.isAtLeastOnce, settings.rejectsPublish else {
            bytes -= entry.size
            if let exchange = settings.deadLetterExchange {
                broker.route(letter(entry, reason, to: exchange), confirm: nil)
            }
            return
        }
        letters.append((entry, reason, nil))
        sendLetters(to: exchange)
    }

    private func letter(_ entry: Entry, _ reason: ModelMessage.Death, to exchange: String) -> ModelMessage {
        var letter = entry.message.dead(
            in: name, of: reason, at: UInt64(broker.wall / 1000), to: exchange, key: settings.deadLetterKey,
            version: broker.version)
        letter.deliveredBefore =
            broker.version == .release310 || kind != .quorum ? 0 : entry.returns + (reason == .rejected ? 1 : 0)
        return letter
    }

    /// Publishes what waits for the dead-letter exchange, at most 32 at a time. What is refused, or led nowhere, is
    /// tried again after minutes.
    private func sendLetters(to exchange: String) {
        while let index = letters.prefix(Self.deadLetterWindow).firstIndex(where: { $0.tried == nil }) {
            let (entry, reason, _) = letters[index]
            letters[index].tried = broker.now
            let position = entry.position
            broker.route(
                letter(entry, reason, to: exchange),
                confirm: ModelConfirm(whereNobodyTakesIt: .refused) { [weak self] isStored in
                    guard isStored, let self else { return }
                    self.letters.removeAll { $0.entry.position == position }
                    self.bytes -= entry.size
                    self.broker.touched(self)
                })
        }
    }

    // MARK: Time

    /// When time alone changes something: `lookAhead` finds it after each change.
    private(set) var due = MonotonicTime.distantFuture

    func lookAhead() {
        due = leaderlessUntil ?? (returned.first ?? ready.first)?.expiresAt ?? .distantFuture
        for letter in letters.prefix(Self.deadLetterWindow) {
            if let tried = letter.tried { due = min(due, tried + Self.deadLetterPatience) }
        }
    }

    func passTime() {
        if let time = leaderlessUntil, time <= broker.now {
            leaderlessUntil = nil
            let published = waiting
            waiting.removeAll()
            for one in published { publish(one.message, confirm: one.confirm) }
        }
        guard leaderlessUntil == nil else { return }
        expire()
        if let exchange = settings.deadLetterExchange {
            for index in letters.indices.prefix(Self.deadLetterWindow) {
                if let tried = letters[index].tried, tried + Self.deadLetterPatience <= broker.now {
                    letters[index].tried = nil
                }
            }
            sendLetters(to: exchange)
        }
        broker.touched(self)
    }

    /// The queue loses its leader. What was not stored by then may be lost with it: it was confirmed to nobody.
    func loseLeader(until time: MonotonicTime, losing lost: (Int) -> Bool) {
        leaderlessUntil = time
        waiting = waiting.enumerated().filter { !lost($0.offset) }.map(\.element)
        broker.touched(self)
    }
}

/// Tells a publisher, or the queue of a dead letter, once all queues have stored a message, or one has not.
final class ModelConfirm {
    enum Answer { case stored, refused }

    /// What the publisher hears if no queue takes the message.
    let whereNobodyTakesIt: Answer
    private let tell: (Bool) -> Void
    private var open = 0
    private var isRefused = false

    init(whereNobodyTakesIt: Answer, _ tell: @escaping (Bool) -> Void) {
        self.whereNobodyTakesIt = whereNobodyTakesIt
        self.tell = tell
    }

    /// The message goes to so many queues. Each answers once.
    func await(_ queues: Int) {
        open = queues
        if queues == 0 { tell(whereNobodyTakesIt == .stored) }
    }

    func stored() { answered() }
    func refused() {
        isRefused = true
        answered()
    }

    private func answered() {
        open -= 1
        if open == 0 { tell(!isRefused) }
    }
}
