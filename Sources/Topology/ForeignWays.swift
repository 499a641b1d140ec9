import Text

/// An exchange or a queue of others whose messages reach an exchange or a queue of the contract.
///
/// RabbitMQ's topic permissions cover what is published to `apns.jobs`, and not what a bound exchange or a dead letter
/// brings there.
package struct ForeignWay: Sendable, Equatable {
    /// Where the messages come from, such as `exchange events`.
    package let object: String
    /// How they get there, and what that means.
    package let detail: String
    /// The exchange that `jobs.from` may name to trust this way; nil where that does not help.
    package let exchange: String?
    /// The steps that close the way, in their order.
    package let remedies: [TopologyRemedy]

    /// Makes a way from its parts.
    package init(object: String, detail: String, exchange: String?, remedies: [TopologyRemedy]) {
        self.object = object
        self.detail = detail
        self.exchange = exchange
        self.remedies = remedies
    }
}

/// The ways of others into the objects of the contract. Pure, and linear in what the virtual host holds.
struct ForeignWays {
    /// A way on from an exchange: a binding, or its alternate exchange.
    private struct Exit {
        let destination: String
        let isToQueue: Bool
        let words: String
        let remedy: TopologyRemedy
    }

    private let live: LiveTopology
    private let trusted: Set<String>
    /// The ways on from exchanges of others.
    private let exits: [String: [Exit]]
    private let policies: PolicyMatcher

    /// Looks for ways.
    ///
    /// - Parameters:
    ///   - live: What the virtual host holds.
    ///   - trusted: The exchanges of `jobs.from`.
    init(_ live: LiveTopology, trusting trusted: Set<String>) {
        self.live = live
        self.trusted = trusted
        policies = PolicyMatcher(live.policies)
        let settings = Dictionary(live.policies.map { ($0.name, $0.settings) }) { first, _ in first }
        var exits: [String: [Exit]] = [:]
        for binding in live.bindings where !binding.source.isEmpty && !TopologyNames.isOurs(exchange: binding.source) {
            let key = binding.routingKey.isEmpty ? "" : " by \(binding.routingKey)"
            exits[binding.source, default: []].append(
                Exit(
                    destination: binding.destination, isToQueue: binding.isToQueue,
                    words: "bound to \(binding.destination)\(key)", remedy: .unbind(binding)))
        }
        for exchange in live.exchanges where !TopologyNames.isOurs(exchange: exchange.name) {
            let byPolicy = exchange.policy.flatMap { settings[$0]?["alternate-exchange"]?.words }
            guard let other = exchange.alternate ?? byPolicy else { continue }
            let remedy = exchange.alternate == nil ? exchange.policy.map(TopologyRemedy.clear) : nil
            exits[exchange.name, default: []].append(
                Exit(
                    destination: other, isToQueue: false, words: "its alternate exchange is \(other)",
                    remedy: remedy ?? .deleteExchange(name: exchange.name)))
        }
        self.exits = exits
    }

    /// The ways that no entry of `jobs.from` vouches for: by exchanges, within the contract, and by dead letters.
    var ways: [ForeignWay] { byExchanges + within + byDeadLetters }

    /// Each exchange of others from which messages reach the contract, also by way of others.
    private var byExchanges: [ForeignWay] {
        let toJobs = exchanges { Self.takesJobs($0) }
        let elsewhere = exchanges { Self.isOurs($0) && !Self.takesJobs($0) }
        return toJobs.union(elsewhere).sorted().compactMap { name in
            // What `jobs.from` vouches for is jobs.
            guard !trusted.contains(name) || elsewhere.contains(name) else { return nil }
            let direct = (exits[name] ?? []).filter(Self.isOurs)
            let onward = (exits[name] ?? []).filter { exit in
                !exit.isToQueue && (toJobs.contains(exit.destination) || elsewhere.contains(exit.destination))
            }
            let words = direct.map(\.words) + onward.map { "\($0.words), which leads on" }
            let more = words.count > 2 ? " and \(words.count - 2) more" : ""
            let named = words.prefix(2).joined(separator: ", ") + more
            // Producers can declare exchanges with such a name for themselves.
            let isTrustable = toJobs.contains(name) && !name.hasPrefix(TopologyNames.queuePrefix)
            let meaning =
                toJobs.contains(name)
                ? "workers refuse jobs that come this way\(isTrustable ? ", unless jobs.from names the exchange" : "")"
                : "who sends what comes this way is not checked"
            return ForeignWay(
                object: "exchange \(name)", detail: "\(named): \(meaning)",
                exchange: isTrustable && !trusted.contains(name) ? name : nil,
                remedies: (direct + onward).map(\.remedy))
        }
    }

    /// Bindings from an exchange of the contract to another one. A topology binds queues alone.
    private var within: [ForeignWay] {
        live.bindings.filter { binding in
            !binding.isToQueue && TopologyNames.isOurs(exchange: binding.source)
                && TopologyNames.isOurs(exchange: binding.destination)
        }.map { binding in
            ForeignWay(
                object: TopologyBinding(binding).description, detail: "no topology has it", exchange: nil,
                remedies: [.unbind(binding)])
        }
    }

    /// Queues of others whose dead letters go to an exchange of the contract, or by their key to a queue of it.
    private var byDeadLetters: [ForeignWay] {
        live.queues.filter { !TopologyNames.isOurs(queue: $0.name) }.compactMap { queue in
            let policy = queue.deadLetters == nil ? policies.policy(of: queue, reported: queue.policy) : nil
            guard let letters = queue.deadLetters ?? policy.flatMap(LiveTopology.Queue.DeadLetters.init) else {
                return nil
            }
            // An empty name is that of the default exchange.
            let isOurs =
                letters.exchange.isEmpty
                ? letters.key.map(TopologyNames.isOurs(queue:)) ?? false
                : TopologyNames.isOurs(exchange: letters.exchange)
            guard isOurs else { return nil }
            let destination = letters.exchange.isEmpty ? letters.key ?? "" : letters.exchange
            let remedy =
                policy.map { TopologyRemedy.clear(policy: $0.name) }
                ?? .deleteQueue(name: queue.name, onlyIfEmpty: queue.kind == "classic")
            return ForeignWay(
                object: "queue \(queue.name)",
                detail: "its dead letters go to \(destination)\(policy.map { " by policy \($0.name)" } ?? ""): workers "
                    + "refuse such jobs. To allow them, let them go to an exchange that is bound to "
                    + "\(TopologyNames.jobs) and that jobs.from names", exchange: nil, remedies: [remedy])
        }
    }

    /// The exchanges of others from which messages reach some objects.
    ///
    /// - Parameter isGoal: Whether an exit leads to one of the objects.
    private func exchanges(_ isGoal: (Exit) -> Bool) -> Set<String> {
        var sources: [String: [String]] = [:]
        var next: [String] = []
        for (source, exits) in exits {
            if exits.contains(where: isGoal) { next.append(source) }
            for exit in exits where !exit.isToQueue { sources[exit.destination, default: []].append(source) }
        }
        var found = Set(next)
        while let exchange = next.popLast() {
            for source in sources[exchange] ?? [] where found.insert(source).inserted { next.append(source) }
        }
        return found
    }

    private static func isOurs(_ exit: Exit) -> Bool {
        exit.isToQueue
            ? TopologyNames.isOurs(queue: exit.destination) : TopologyNames.isOurs(exchange: exit.destination)
    }

    /// Whether workers judge each message that comes this way by its exchange.
    private static func takesJobs(_ exit: Exit) -> Bool {
        exit.isToQueue ? TopologyNames.isJobQueue(exit.destination) : exit.destination == TopologyNames.jobs
    }
}

extension LiveTopology {
    /// The ways of others into the objects of the contract, without those that are trusted.
    ///
    /// - Parameter trusted: The exchanges of `jobs.from`.
    package func foreignWays(trusting trusted: Set<String>) -> [ForeignWay] {
        ForeignWays(self, trusting: trusted).ways
    }
}

extension LiveTopology.Queue.DeadLetters {
    /// Where a policy sends the dead letters of its queues; nil where it does not say so.
    fileprivate init?(_ policy: LiveTopology.Policy) {
        guard let exchange = policy.settings["dead-letter-exchange"] else { return nil }
        self.init(exchange: exchange.words, key: policy.settings["dead-letter-routing-key"]?.words)
    }
}
