package import EventLoop

/// RabbitMQ as Martlet relies on it, in memory: it speaks AMQP 0-9-1 on bytes, has no socket and no clock, and may do
/// whatever RabbitMQ is allowed to do. `ConformanceTests` hold it against real brokers.
///
/// Not modelled: transactions, priorities of messages, headers exchanges, durable classic queues, flow control.
package final class ModelBroker {
    /// The releases whose rules differ for Martlet.
    package enum Version: String, CaseIterable {
        case release310 = "3.10.8"
        case release40 = "4.0.5"
        case release43 = "4.3.6"
    }

    /// What a user may do.
    struct User {
        var configure: (String) -> Bool = { _ in true }
        var write: (String) -> Bool = { _ in true }
        var read: (String) -> Bool = { _ in true }
        /// Whether a user may publish to a topic exchange with a key; nil without topic permissions.
        var mayWriteTopic: ((_ exchange: String, _ key: String) -> Bool)?

        func allows(_ right: ModelConnection.Right, _ name: String) -> Bool {
            switch right {
            case .configure: configure(name)
            case .write: write(name)
            case .read: read(name)
            }
        }
    }

    struct Policy {
        var priority: Int
        var applies: (String) -> Bool
        var definition: WireTable
    }

    package let version: Version
    private(set) var now: MonotonicTime
    /// Milliseconds since 1970.
    private(set) var wall: Int64
    var users: [String: User] = ["guest": User()]
    var exchanges: [String: ModelExchange] = [:]
    private(set) var queues: [String: ModelQueue] = [:]
    /// The queues in the order of their names.
    private var sortedQueues: [ModelQueue] = []
    private var policies: [String: Policy] = [:]
    private var operatorPolicies: [String: Policy] = [:]
    /// In the order in which they were made.
    private var connections: [ModelConnection] = []
    private var nextConnection = 1
    /// Why publishing clients are blocked; nil without an alarm.
    private(set) var alarm: String?
    /// How long a confirm takes. The world draws it.
    package var confirmDelay: () -> Duration = { .zero }
    /// Hears of each message that comes back from a consumer.
    var returned: (ModelMessage) -> Void = { _ in }
    /// Hears of each message that a client published and is told now that a queue has.
    var confirmed: (ModelMessage) -> Void = { _ in }
    /// Hears of each message that a client acknowledged, once it is gone from its queue.
    var acknowledged: (ModelMessage, ModelQueue) -> Void = { _, _ in }
    /// How long a delivery may stay unsettled, in milliseconds; nil for ever.
    package var consumerTimeout: Int64? = 1_800_000
    package var channelMax: UInt16 = 2047
    /// The most publications that ever waited on one channel for their confirms.
    var mostUnconfirmed = 0
    /// The most deliveries that one client ever held, and the most bytes.
    var mostHeld = (deliveries: 0, bytes: 0)

    private var touchedQueues: [ModelQueue] = []
    private var touchedChannels: [ModelChannel] = []
    private var isSettling = false

    package init(_ version: Version, now: MonotonicTime, wall: Int64) {
        self.version = version
        self.now = now
        self.wall = wall
        exchanges["amq.topic"] = ModelExchange(.topic)
        exchanges["amq.direct"] = ModelExchange(.direct)
        exchanges["amq.fanout"] = ModelExchange(.fanout)
    }

    /// A client connects.
    package func connect() -> ModelConnection {
        defer { nextConnection += 1 }
        let connection = ModelConnection(nextConnection, broker: self)
        connections.append(connection)
        return connection
    }

    func gone(_ connection: ModelConnection) {
        connections.removeAll { $0 === connection }
        for queue in sortedQueues where queue.kind == .exclusive(owner: connection.number) { deleteQueue(queue.name) }
    }

    // MARK: Objects

    func declareExchange(_ name: String, _ kind: ModelExchange.Kind, arguments: WireTable = WireTable()) {
        if exchanges[name] == nil { exchanges[name] = ModelExchange(kind, arguments: arguments) }
    }

    func deleteExchange(_ name: String) {
        exchanges[name] = nil
        for source in exchanges.keys { exchanges[source]?.forget(.exchange(name)) }
    }

    func declareQueue(_ name: String, _ kind: ModelQueue.Kind, arguments: WireTable = WireTable()) {
        guard queues[name] == nil else { return }
        let queue = ModelQueue(name, kind, arguments: arguments, broker: self)
        queues[name] = queue
        sortQueues()
        apply(to: queue)
    }

    /// Whether a client holds deliveries that it has not settled.
    var hasUnsettled: Bool { sortedQueues.contains { $0.unacknowledged > 0 } }

    func deleteQueue(_ name: String) {
        guard let queue = queues.removeValue(forKey: name) else { return }
        sortQueues()
        for source in exchanges.keys { exchanges[source]?.forget(.queue(name)) }
        for connection in connections {
            for channel in connection.sortedChannels { channel.forget(queue) }
        }
    }

    /// Whether a message stands in a queue, or is with a consumer of it.
    func has(_ isWanted: (ModelMessage, ModelQueue) -> Bool) -> Bool {
        sortedQueues.contains { queue in queue.messages.contains { isWanted($0, queue) } }
            || connections.contains { connection in
                connection.sortedChannels.contains { channel in
                    channel.open.contains { isWanted($0.delivery.entry.message, $0.delivery.queue) }
                }
            }
    }

    private func sortQueues() { sortedQueues = queues.values.sorted { $0.name < $1.name } }

    func setPolicy(_ name: String, priority: Int = 0, definition: WireTable, applies: @escaping (String) -> Bool) {
        policies[name] = Policy(priority: priority, applies: applies, definition: definition)
        applyPolicies()
    }

    func setOperatorPolicy(_ name: String, definition: WireTable, applies: @escaping (String) -> Bool) {
        operatorPolicies[name] = Policy(priority: 0, applies: applies, definition: definition)
        applyPolicies()
    }

    func clearPolicy(_ name: String) {
        policies[name] = nil
        operatorPolicies[name] = nil
        applyPolicies()
    }

    private func applyPolicies() {
        for queue in sortedQueues { apply(to: queue) }
        settle()
    }

    private func apply(to queue: ModelQueue) {
        var settings = ModelQueueSettings()
        settings.take(queue.arguments)
        for some in [policies, operatorPolicies] {
            let winner = some.filter { $0.value.applies(queue.name) }
                .max { ($0.value.priority, $0.key) < ($1.value.priority, $1.key) }
            if let winner { settings.take(winner.value.definition) }
        }
        queue.settings = settings
        touched(queue)
    }

    private func alternate(of name: String) -> String? {
        if let given = exchanges[name]?.arguments["alternate-exchange"]?.string { return given }
        return policies.filter { $0.value.applies(name) }.max { $0.value.priority < $1.value.priority }?
            .value.definition["alternate-exchange"]?.string
    }

    // MARK: Routing

    /// Leads a message to its queues.
    ///
    /// - Parameters:
    ///   - confirm: Is told once all of them have stored it.
    ///   - unrouted: Called where no queue takes it, before the confirm.
    func route(_ message: ModelMessage, confirm: ModelConfirm?, unrouted: () -> Void = {}) {
        var keys = [message.routingKey]
        var message = message
        for header in ["CC", "BCC"] {
            guard case .array(let more)? = message.properties.headers?[header] else { continue }
            keys += more.compactMap(\.string)
        }
        if message.properties.headers?["BCC"] != nil {
            message.properties.headers?["BCC"] = nil
            message.original = nil
        }
        let found = queueNames(from: message.exchange, keys: keys).compactMap { queues[$0] }
        if found.isEmpty { unrouted() }
        confirm?.await(found.count)
        for queue in found { queue.publish(message, confirm: confirm) }
    }

    /// Publishes a message as a producer does whose connection never fails.
    ///
    /// - Parameter confirmed: Hears whether all queues stored it.
    func publish(_ message: ModelMessage, confirmed: @escaping (Bool) -> Void) {
        route(message, confirm: ModelConfirm(whereNobodyTakesIt: .stored, confirmed))
        settle()
    }

    private func queueNames(from exchange: String, keys: [String]) -> [String] {
        guard !exchange.isEmpty else { return keys.filter { queues[$0] != nil } }
        var (names, seen, waiting): ([String], Set<String>, [String]) = ([], [], [exchange])
        while let name = waiting.popLast() {
            guard seen.insert(name).inserted, exchanges[name] != nil else { continue }
            let destinations = keys.flatMap { exchanges[name]?.destinations(of: $0) ?? [] }
            if destinations.isEmpty, let other = alternate(of: name) { waiting.append(other) }
            for destination in destinations {
                switch destination {
                case .queue(let queue): if !names.contains(queue) { names.append(queue) }
                case .exchange(let next): waiting.append(next)
                }
            }
        }
        return names
    }

    // MARK: Work that follows from other work

    func touched(_ queue: ModelQueue) {
        if !touchedQueues.contains(where: { $0 === queue }) { touchedQueues.append(queue) }
    }

    func touched(_ channel: ModelChannel) {
        if !touchedChannels.contains(where: { $0 === channel }) { touchedChannels.append(channel) }
    }

    /// Lets queues deliver, and channels confirm, until nothing is left to do now.
    func settle() {
        guard !isSettling else { return }
        isSettling = true
        defer { isSettling = false }
        while !touchedQueues.isEmpty || !touchedChannels.isEmpty {
            let (queues, channels) = (touchedQueues, touchedChannels)
            touchedQueues.removeAll()
            touchedChannels.removeAll()
            for queue in queues {
                queue.deliver()
                queue.lookAhead()
            }
            for channel in channels { channel.sendConfirms() }
        }
    }

    // MARK: Time

    /// When time alone changes something; nil for never.
    package var nextDue: MonotonicTime? {
        guard touchedQueues.isEmpty, touchedChannels.isEmpty else { return now }
        var due = MonotonicTime.distantFuture
        for queue in sortedQueues { due = min(due, queue.due) }
        for connection in connections { due = min(due, connection.due) }
        return due == .distantFuture ? nil : due
    }

    /// Time passed.
    package func advance(to now: MonotonicTime, wall: Int64) {
        self.now = now
        self.wall = wall
        for queue in sortedQueues where queue.due <= now { queue.passTime() }
        for connection in connections where connection.due <= now { connection.passTime() }
        settle()
    }

    // MARK: What operators and fate do

    /// An alarm begins, or ends.
    package func setAlarm(_ reason: String?) {
        alarm = reason
        for connection in connections { connection.tellBlocked() }
    }

    /// The node restarts: all connections are gone, and everything that was confirmed is there.
    package func restart() {
        for connection in connections { connection.cut() }
    }
}
