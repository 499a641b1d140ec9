import EventLoop
import TestSupport

/// One consumer of a channel.
final class ModelConsumer {
    let tag: String
    let queue: ModelQueue
    let priority: Int64
    private let prefetch: Int
    private unowned let channel: ModelChannel
    /// How many of its deliveries are open.
    var open = 0
    /// The next message of a stream.
    var offset = 0

    init(_ tag: String, of queue: ModelQueue, prefetch: Int, priority: Int64, channel: ModelChannel) {
        self.tag = tag
        self.queue = queue
        self.prefetch = prefetch
        self.priority = priority
        self.channel = channel
    }

    var hasCredit: Bool { prefetch == 0 ? open < 2000 : open < prefetch }

    func deliver(_ entry: ModelQueue.Entry, from queue: ModelQueue) {
        open += 1
        channel.deliver(entry, from: queue, to: self)
    }
}

/// One channel of a connection, from its opening to its end.
final class ModelChannel {
    /// A delivery that is not settled.
    struct Open {
        var entry: ModelQueue.Entry
        var queue: ModelQueue
        /// Nil for what `basic.get` fetched.
        var consumer: ModelConsumer?
        /// When the broker's patience ends.
        var timeout: MonotonicTime
    }

    /// What a publisher will hear.
    private struct Answer {
        let due: MonotonicTime
        let number: UInt64
        let isStored: Bool
        /// The message, where a queue took it.
        let message: ModelMessage?
    }

    let number: UInt16
    private unowned let connection: ModelConnection
    private let broker: ModelBroker

    private var prefetch = 0
    private(set) var consumers: [ModelConsumer] = []
    /// Deliveries that are not settled, by their tags; the tags only grow.
    private(set) var open: [(tag: UInt64, delivery: Open)] = []
    private var nextTag: UInt64 = 1

    private var confirms = false
    private var published: UInt64 = 0
    private var unconfirmed: Set<UInt64> = []
    /// Answers that are on their way, with the time at which they leave.
    private var answers: [Answer] = []
    /// When the first of them leaves.
    private var answersFrom = MonotonicTime.distantFuture
    /// No open delivery has waited too long before.
    private var timeoutFrom = MonotonicTime.distantFuture

    /// A message whose frames are coming in.
    private var incoming: (exchange: String, key: String, isMandatory: Bool, size: Int?, properties: [UInt8])?
    private var body: [UInt8] = []
    /// Whether the broker has closed the channel, and the client has not agreed yet.
    private(set) var isClosing = false

    init(_ number: UInt16, of connection: ModelConnection, broker: ModelBroker) {
        self.number = number
        self.connection = connection
        self.broker = broker
    }

    // MARK: Methods

    func method(_ method: ClientMethod) throws(ModelError) {
        if isClosing { return }
        switch method {
        case .qos(let count):
            prefetch = Int(count)
            send(60, 11)
        case .consume(let queue, let tag, let arguments): try consume(queue, tag, arguments)
        case .cancel(let tag):
            if let consumer = consumers.first(where: { $0.tag == tag }) { drop(consumer) }
            send(60, 31) { $0.short(tag) }
        case .cancelOK, .flowOK: break
        case .publish(let exchange, let key, let isMandatory):
            try connection.check(.write, exchange.isEmpty ? "amq.default" : exchange)
            guard exchange.isEmpty || broker.exchanges[exchange] != nil else {
                throw .missing("exchange", exchange, 60, 40)
            }
            try connection.checkTopic(exchange, key)
            incoming = (exchange, key, isMandatory, nil, [])
            body = []
        case .get(let queue): try get(queue)
        case .acknowledge(let tag, let multiple):
            for one in try settle(tag, multiple, 80) {
                one.queue.acknowledged(one.entry)
                broker.acknowledged(one.entry.message, one.queue)
            }
        case .reject(let tag, let requeue):
            for one in try settle(tag, false, 90) { giveUp(one, requeue, .failed) }
        case .negativeAcknowledge(let tag, let multiple, let requeue):
            for one in try settle(tag, multiple, 120) { giveUp(one, requeue, .givenBack) }
        case .selectConfirms:
            confirms = true
            send(85, 11)
        default: try administer(method)
        }
    }

    private func giveUp(_ one: Open, _ requeue: Bool, _ how: ModelQueue.Return) {
        if requeue { one.queue.takeBack(one.entry, how) } else { one.queue.rejected(one.entry) }
    }

    private func queue(_ name: String, _ method: UInt16) throws(ModelError) -> ModelQueue {
        guard let queue = broker.queues[name] else { throw .missing("queue", name, method / 1000, method % 1000) }
        if case .exclusive(let owner) = queue.kind, owner != connection.number {
            throw ModelError(
                405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '\(name)' in vhost '/'")
        }
        return queue
    }

    private func consume(_ name: String, _ asked: String, _ arguments: WireTable)
        throws(ModelError)
    {
        try connection.check(.read, name)
        let queue = try queue(name, 60_020)
        let tag = asked.isEmpty ? "amq.ctag-\(connection.number)-\(number)-\(nextTag)" : asked
        let consumer = ModelConsumer(
            tag, of: queue, prefetch: prefetch, priority: arguments["x-priority"]?.number ?? 0, channel: self)
        consumer.offset = offset(arguments["x-stream-offset"], in: queue)
        consumers.append(consumer)
        send(60, 21) { $0.short(tag) }
        queue.add(consumer)
    }

    private func offset(_ argument: WireValue?, in queue: ModelQueue) -> Int {
        if let number = argument?.number { return Int(clamping: number) }
        return switch argument?.string {
        case "first": 0
        case "last": max(0, queue.log.count - 1)
        default: queue.log.count
        }
    }

    private func get(_ name: String) throws(ModelError) {
        try connection.check(.read, name)
        let queue = try queue(name, 60_070)
        guard let entry = queue.get() else { return send(60, 72) { $0.short("") } }
        let (message, isRedelivered) = queue.outgoing(entry, isFetched: true)
        let (tag, left) = (note(entry, queue, nil), queue.readyCount)
        send(60, 71) {
            $0.u64(tag)
            $0.u8(isRedelivered ? 1 : 0)
            $0.short(message.exchange)
            $0.short(message.routingKey)
            $0.u32(UInt32(left))
        }
        connection.content(number, message.propertyBytes, message.body)
    }

    // MARK: Objects of the broker

    private func administer(_ method: ClientMethod) throws(ModelError) {
        switch method {
        case .declareExchange(let name, let type, let isPassive, let arguments):
            if isPassive {
                guard broker.exchanges[name] != nil else { throw .missing("exchange", name, 40, 10) }
            } else {
                try connection.check(.configure, name)
                broker.declareExchange(name, ModelExchange.Kind(rawValue: type) ?? .topic, arguments: arguments)
            }
            send(40, 11)
        case .deleteExchange(let name):
            try connection.check(.configure, name)
            broker.deleteExchange(name)
            send(40, 21)
        case .bindExchange(let destination, let source, let key):
            try connection.check(.write, destination)
            try connection.check(.read, source)
            try bind(.exchange(destination), to: source, key)
            send(40, 31)
        case .declareQueue(let name, let isPassive, let isExclusive, let arguments):
            try declareQueue(name, isPassive, isExclusive, arguments)
        case .bindQueue(let name, let exchange, let key):
            try connection.check(.write, name)
            try connection.check(.read, exchange)
            _ = try queue(name, 50_020)
            try bind(.queue(name), to: exchange, key)
            send(50, 21)
        case .unbindQueue(let name, let exchange, let key):
            broker.exchanges[exchange]?.unbind(.init(key: key, destination: .queue(name)))
            send(50, 51)
        case .purgeQueue(let name):
            try connection.check(.read, name)
            let count = try queue(name, 50_030).purge()
            send(50, 31) { $0.u32(UInt32(count)) }
        case .deleteQueue(let name):
            try connection.check(.configure, name)
            let count = broker.queues[name]?.readyCount ?? 0
            broker.deleteQueue(name)
            send(50, 41) { $0.u32(UInt32(count)) }
        default: throw ModelError(503, "COMMAND_INVALID - not on a channel")
        }
    }

    private func bind(_ destination: ModelExchange.Destination, to source: String, _ key: String) throws(ModelError) {
        guard broker.exchanges[source] != nil else { throw .missing("exchange", source, 50, 20) }
        broker.exchanges[source]?.bind(.init(key: key, destination: destination))
    }

    private func declareQueue(
        _ asked: String, _ isPassive: Bool, _ isExclusive: Bool, _ arguments: WireTable
    ) throws(ModelError) {
        let name = asked.isEmpty ? "amq.gen-\(connection.number)-\(number)-\(broker.queues.count)" : asked
        if isPassive || broker.queues[name] != nil {
            _ = try queue(name, 50_010)
        } else {
            try connection.check(.configure, name)
            let kind: ModelQueue.Kind =
                if isExclusive { .exclusive(owner: connection.number) } else {
                    arguments["x-queue-type"]?.string == "stream" ? .stream : .quorum
                }
            broker.declareQueue(name, kind, arguments: arguments)
        }
        let queue = broker.queues[name]
        let (messages, consumers) = (queue?.readyCount ?? 0, queue?.consumers.count ?? 0)
        send(50, 11) {
            $0.short(name)
            $0.u32(UInt32(messages))
            $0.u32(UInt32(consumers))
        }
    }

    // MARK: Deliveries

    private func note(_ entry: ModelQueue.Entry, _ queue: ModelQueue, _ consumer: ModelConsumer?) -> UInt64 {
        defer { nextTag += 1 }
        let timeout = (queue.settings.consumerTimeout ?? broker.consumerTimeout).map { broker.now + .milliseconds($0) }
        open.append((nextTag, Open(entry: entry, queue: queue, consumer: consumer, timeout: timeout ?? .distantFuture)))
        connection.hold(entry.message)
        timeoutFrom = min(timeoutFrom, timeout ?? .distantFuture)
        return nextTag
    }

    fileprivate func deliver(_ entry: ModelQueue.Entry, from queue: ModelQueue, to consumer: ModelConsumer) {
        let (message, isRedelivered) = queue.outgoing(entry)
        let tag = note(entry, queue, consumer)
        send(60, 60) {
            $0.short(consumer.tag)
            $0.u64(tag)
            $0.u8(isRedelivered ? 1 : 0)
            $0.short(message.exchange)
            $0.short(message.routingKey)
        }
        connection.content(number, message.propertyBytes, message.body)
    }

    private func settle(_ tag: UInt64, _ multiple: Bool, _ method: UInt16) throws(ModelError) -> [Open] {
        let settled: [Open]
        if multiple {
            guard tag < nextTag else { throw .unknownTag(tag, method) }
            settled = takeOpen { $0.tag <= tag || tag == 0 }
        } else {
            settled = takeOpen { $0.tag == tag }
            guard !settled.isEmpty else { throw .unknownTag(tag, method) }
        }
        for one in settled {
            one.consumer?.open -= 1
            broker.touched(one.queue)
        }
        return settled
    }

    /// Takes deliveries out of those that are open, in their order.
    private func takeOpen(_ isTaken: ((tag: UInt64, delivery: Open)) -> Bool) -> [Open] {
        let taken = open.filter(isTaken).map(\.delivery)
        if !taken.isEmpty { open.removeAll(where: isTaken) }
        for one in taken { connection.letGo(one.entry.message) }
        return taken
    }

    private func drop(_ consumer: ModelConsumer) {
        consumer.queue.remove(consumer)
        consumers.removeAll { $0 === consumer }
    }

    /// The queue is gone: so are its consumers, and what was delivered of it.
    func forget(_ queue: ModelQueue) {
        _ = takeOpen { $0.delivery.queue === queue }
        for consumer in consumers where consumer.queue === queue {
            drop(consumer)
            tellCancelled(consumer)
        }
    }

    private func tellCancelled(_ consumer: ModelConsumer) {
        guard connection.takesCancels else { return }
        send(60, 30) {
            $0.short(consumer.tag)
            $0.u8(1)
        }
    }

    // MARK: Publishing

    /// A header or body frame of a message.
    func content(_ kind: UInt8, _ payload: [UInt8]) throws(ModelError) {
        if isClosing { return }
        guard var message = incoming else { throw ModelError(505, "UNEXPECTED_FRAME - content without basic.publish") }
        if kind == 2 {
            var reader = WireReader(payload)
            do {
                _ = try reader.raw(4)
                message.size = Int(try reader.u64())
                message.properties = try reader.raw(payload.count - 12)
            } catch { throw ModelError(501, "FRAME_ERROR - \(error)") }
            incoming = message
        } else {
            body += payload
        }
        guard let size = message.size, body.count >= size else { return }
        incoming = nil
        try publish(message.exchange, message.key, message.isMandatory, message.properties)
    }

    private func publish(_ exchange: String, _ key: String, _ isMandatory: Bool, _ bytes: [UInt8]) throws(ModelError) {
        let properties: ModelProperties
        do { properties = try ModelProperties(reading: bytes) } catch {
            throw ModelError(502, "SYNTAX_ERROR - \(error)")
        }
        let message = ModelMessage(
            exchange: exchange, routingKey: key, properties: properties, body: body, original: bytes)
        var confirm: ModelConfirm?
        var isUnrouted = false
        if confirms {
            published += 1
            let number = published
            unconfirmed.insert(number)
            broker.mostUnconfirmed = max(broker.mostUnconfirmed, unconfirmed.count)
            confirm = ModelConfirm(whereNobodyTakesIt: .stored) { [weak self] in
                self?.answer(number, $0, of: isUnrouted ? nil : message)
            }
        }
        connection.published()
        broker.route(message, confirm: confirm) { [self] in
            isUnrouted = true
            guard isMandatory else { return }
            send(60, 50) {
                $0.u16(312)
                $0.short("NO_ROUTE")
                $0.short(exchange)
                $0.short(key)
            }
            connection.content(number, bytes, body)
        }
    }

    private func answer(_ number: UInt64, _ isStored: Bool, of message: ModelMessage?) {
        let due = broker.now + broker.confirmDelay()
        answers.append(Answer(due: due, number: number, isStored: isStored, message: message))
        answersFrom = min(answersFrom, due)
        if due <= broker.now { broker.touched(self) }
    }

    /// Sends the confirms that are due. RabbitMQ confirms several at once, out of order, and says so by `multiple` where
    /// nothing below is open.
    func sendConfirms() {
        guard answersFrom <= broker.now, !isClosing else { return }
        let due = answers.filter { $0.due <= broker.now }.sorted { $0.number < $1.number }
        answers.removeAll { $0.due <= broker.now }
        answersFrom = answers.map(\.due).min() ?? .distantFuture
        for one in due {
            unconfirmed.remove(one.number)
            if one.isStored, let message = one.message { broker.confirmed(message) }
        }
        var rest = due.filter(\.isStored).map(\.number)
        let lowest = unconfirmed.min() ?? .max
        let refused = due.filter { !$0.isStored }.map(\.number)
        if let last = rest.last(where: { $0 < lowest && $0 < refused.first ?? .max }), rest.first != last {
            rest.removeAll { $0 <= last }
            confirm(80, last, multiple: true)
        }
        for number in rest { confirm(80, number, multiple: false) }
        for number in refused { confirm(120, number, multiple: false) }
    }

    private func confirm(_ method: UInt16, _ number: UInt64, multiple: Bool) {
        send(60, method) {
            $0.u64(number)
            $0.u8(multiple ? 1 : 0)
        }
    }

    // MARK: Time and ends

    /// When time alone changes something, or earlier.
    var due: MonotonicTime { isClosing ? .distantFuture : min(answersFrom, timeoutFrom) }

    func passTime() throws(ModelError) {
        sendConfirms()
        guard !isClosing, timeoutFrom <= broker.now else { return }
        let oldest = open.min { $0.delivery.timeout < $1.delivery.timeout }
        timeoutFrom = oldest?.delivery.timeout ?? .distantFuture
        guard timeoutFrom <= broker.now else { return }
        let late = oldest?.delivery.consumer
        guard broker.version == .release43, let late, connection.takesCancels else {
            throw ModelError(
                406,
                "PRECONDITION_FAILED - delivery acknowledgement on channel \(number) timed out. "
                    + "See https://rabbitmq.com/docs/consumers#acknowledgement-timeout to learn more")
        }
        // The consumer stays, and goes on to be served (RabbitMQ 4.3).
        tellCancelled(late)
        for one in takeOpen({ $0.delivery.consumer === late }) {
            late.open -= 1
            one.queue.takeBack(one.entry, .failed)
        }
    }

    /// The channel ends: what was delivered goes back in its order.
    func end() {
        for consumer in consumers { drop(consumer) }
        for one in takeOpen({ _ in true }) { one.queue.takeBack(one.entry, .failed) }
        answers.removeAll()
        answersFrom = .distantFuture
    }

    /// The broker closes the channel.
    func close(_ error: ModelError) {
        end()
        isClosing = true
        send(20, 40) {
            $0.u16(error.code)
            $0.short(String(error.text.prefix(255)))
            $0.u16(error.method.0)
            $0.u16(error.method.1)
        }
    }

    private func send(_ group: UInt16, _ method: UInt16, _ arguments: (inout Wire) -> Void = { _ in }) {
        connection.send(Wire.method(number, group, method, arguments))
    }
}

/// An error of AMQP: of a channel, or of the whole connection where the protocol says so.
struct ModelError: Error {
    let code: UInt16
    let text: String
    var method: (UInt16, UInt16) = (0, 0)

    init(_ code: UInt16, _ text: String, method: (UInt16, UInt16) = (0, 0)) {
        self.code = code
        self.text = text
        self.method = method
    }

    var isConnections: Bool { [320, 501, 502, 503, 504, 505, 530, 540, 541].contains(code) }

    static func missing(_ kind: String, _ name: String, _ group: UInt16, _ method: UInt16) -> ModelError {
        ModelError(404, "NOT_FOUND - no \(kind) '\(name)' in vhost '/'", method: (group, method))
    }
    static func unknownTag(_ tag: UInt64, _ method: UInt16) -> ModelError {
        ModelError(406, "PRECONDITION_FAILED - unknown delivery tag \(tag)", method: (60, method))
    }
}
