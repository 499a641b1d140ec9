import Text

/// Writes down how a broker differs from what it should hold: one row for each difference, with the remedies. Pure.
struct DriftReport {
    private let comparison: TopologyComparison
    private let topology: BrokerTopology
    private let live: LiveTopology

    /// A report about what a comparison found.
    ///
    /// - Parameter comparison: What should be, and what is there.
    init(_ comparison: TopologyComparison) {
        self.comparison = comparison
        topology = comparison.topology
        live = comparison.live
    }

    /// Every difference, in the order exchanges, queues, bindings, policies, stale objects, what others made.
    var rows: [TopologyDrift] {
        exchanges + queues + missingBindings + policies + stale + operatorPolicies + foreignWays
    }

    /// The ways of others into the objects of the contract.
    var foreignWays: [TopologyDrift] {
        live.foreignWays(trusting: topology.trustedExchanges).map { way in
            TopologyDrift(
                kind: .foreign, object: way.object, detail: way.detail, remedies: way.remedies, exchange: way.exchange)
        }
    }

    /// The operator policies that change queues of the contract.
    private var operatorPolicies: [TopologyDrift] {
        live.operatorPolicyEffects.map { effect in
            TopologyDrift(
                kind: .foreign, object: "operator policy \(effect.policy)",
                detail: "\(effect.detail). martlet topology apply cannot change that; the broker's administrator can: "
                    + "take it away, or let its pattern leave out \(TopologyNames.queuePrefix)*",
                remedies: [.clearOperatorPolicy(name: effect.policy)])
        }
    }

    /// The differences because of which tiers keep their copies for ever: one row per tier.
    var keepingTiers: [TopologyDrift] {
        let objects = Set(comparison.keepingTiers.map { "policy \($0.queue)" })
        return policies.filter { objects.contains($0.object) }
    }

    // MARK: What is missing or different

    private var exchanges: [TopologyDrift] {
        let present = Dictionary(live.exchanges.map { ($0.name, $0) }) { first, _ in first }
        return topology.exchanges.compactMap { wanted in
            let object = "exchange \(wanted.name)"
            let declare = TopologyRemedy.declareExchange(name: wanted.name, kind: wanted.kind)
            guard let found = present[wanted.name] else {
                return TopologyDrift(kind: .missing, object: object, detail: "", remedies: [declare])
            }
            var details: [String] = []
            if found.kind != wanted.kind.rawValue || !found.isDurable {
                details.append(
                    "is \(found.isDurable ? "durable" : "transient") \(found.kind), should be durable "
                        + wanted.kind.rawValue)
            }
            if found.isInternal { details.append("is internal, so that nobody can publish to it") }
            if found.isAutoDeleted { details.append("goes with its last binding (auto_delete)") }
            if let alternate = found.alternate {
                details.append("has the argument alternate-exchange (\(alternate)), which no policy can change")
            }
            guard !details.isEmpty else { return nil }
            let delete = TopologyRemedy.deleteExchange(name: wanted.name)
            return TopologyDrift(
                kind: .different, object: object, detail: details.joined(separator: "; "), remedies: [delete, declare])
        }
    }

    private var queues: [TopologyDrift] {
        let present = Dictionary(live.queues.map { ($0.name, $0) }) { first, _ in first }
        return topology.queues.compactMap { wanted in
            let object = "queue \(wanted.name)"
            let declare = TopologyRemedy.declareQueue(name: wanted.name, kind: wanted.kind)
            guard let found = present[wanted.name] else {
                return TopologyDrift(kind: .missing, object: object, detail: "", remedies: [declare])
            }
            var details: [String] = []
            if let kind = found.kind, kind != wanted.kind.rawValue || !found.isDurable {
                details.append(
                    "is \(found.isDurable ? "durable" : "transient") \(kind), should be durable "
                        + wanted.kind.rawValue)
            }
            if !found.arguments.isEmpty {
                details.append(
                    "has arguments that no policy can change: \(found.arguments.sorted().joined(separator: ", "))")
            }
            guard !details.isEmpty else { return nil }
            // A queue that should be a stream has only reports or commands: it may be deleted with its messages. The
            // messages of all others are jobs, results or dead letters.
            var delete = TopologyRemedy.deleteQueue(name: wanted.name, onlyIfEmpty: false)
            if wanted.kind != .stream {
                delete = Self.carefulDeletion(of: found)
                details += lossWarning(found)
            }
            return TopologyDrift(
                kind: .different, object: object, detail: details.joined(separator: "; "), remedies: [delete, declare])
        }
    }

    private var missingBindings: [TopologyDrift] {
        let rivals = comparison.rivals
        let removable = Set(comparison.removableBindings(prunes: false).map(TopologyBinding.init))
        return comparison.unmadeBindings.map { binding in
            guard let rivals = rivals[binding.address], let first = rivals.first else {
                return TopologyDrift(
                    kind: .missing, object: binding.description, detail: "", remedies: [.bind(binding)])
            }
            let isOurs = rivals.allSatisfy { removable.contains(TopologyBinding($0)) }
            let others = isOurs ? "" : ", of a route that this configuration does not have: --prune moves it"
            var remedies = rivals.map(TopologyRemedy.unbind) + [.bind(binding)]
            if let between = binding.whileMoving {
                remedies = [.bind(between)] + remedies + [.unbind(Self.live(between))]
            }
            return TopologyDrift(
                kind: .missing, object: binding.description, detail: "goes to \(first.destination) now\(others)",
                remedies: remedies)
        }
    }

    /// A binding without arguments as a broker has it.
    private static func live(_ binding: TopologyBinding) -> LiveTopology.Binding {
        // The management API names the binding by its key, percent-encoded where necessary.
        let key = binding.routingKey.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "%2A")
        return LiveTopology.Binding(
            source: binding.source, destination: binding.queue, routingKey: binding.routingKey, propertiesKey: key)
    }

    private var policies: [TopologyDrift] {
        let unmet = comparison.unmetPolicies
        let kept = Dictionary(comparison.keepingTiers.map { ($0.queue, $0) }) { first, _ in first }
        let waiting = comparison.waitingTiers
        let others = comparison.queuesWithoutReturns.joined(separator: ", ")
        var rows = unmet.map { policy, differences in
            let waits = waiting.contains(policy.name)
            let reasons = [
                kept[policy.name]?.detail,
                kept[policy.name]?.rival.map { "policy \($0) has to go first" },
                waits ? "waits for the return queues of \(others): apply their configuration, or --prune them" : nil,
            ]
            return TopologyDrift(
                kind: differences.isEmpty ? .missing : .different, object: "policy \(policy.name)",
                detail: (reasons.compactMap(\.self) + differences).joined(separator: "; "),
                // The waiting copies must be led back, too. That takes more than one command.
                remedies: kept[policy.name].map { ($0.rival.map { [.clear(policy: $0)] } ?? []) + [.apply] }
                    ?? [waits ? .apply : .set(policy)])
        }
        // A policy with the right contents is still without effect where another one matches with a higher priority.
        let met = Set(topology.policies.map(\.name)).subtracting(unmet.map(\.policy.name))
        let present = Dictionary(live.policies.map { ($0.name, $0) }) { first, _ in first }
        for (name, objects) in overruled where met.contains(name.wanted) {
            guard let wanted = present[name.wanted], let rival = present[name.rival] else { continue }
            let others = objects.count > 1 ? " and \(objects.count - 1) more" : ""
            let keeps = kept[wanted.name].map { "\($0.detail); " } ?? ""
            rows.append(
                TopologyDrift(
                    kind: .different, object: "policy \(wanted.name)",
                    detail: "\(keeps)has no effect on \(objects[0])\(others): policy \(rival.name) has priority "
                        + "\(rival.priority), this one \(wanted.priority)",
                    // Where copies wait, apply notes that before the rival goes.
                    remedies: [kept[wanted.name] == nil ? .clear(policy: rival.name) : .apply]))
        }
        return rows
    }

    /// The policies that should be in effect and those that are in effect instead, with the objects concerned.
    private var overruled: [(name: (wanted: String, rival: String), objects: [String])] {
        let queuesInEffect = Dictionary(live.queues.map { ($0.name, $0.policy) }) { first, _ in first }
        let exchangesInEffect = Dictionary(live.exchanges.map { ($0.name, $0.policy) }) { first, _ in first }
        var found: [(name: (wanted: String, rival: String), objects: [String])] = []
        func note(_ object: String, _ wanted: String, _ rival: String?) {
            guard let rival, rival != wanted else { return }
            if let index = found.firstIndex(where: { $0.name == (wanted, rival) }) {
                found[index].objects.append(object)
            } else {
                found.append(((wanted, rival), [object]))
            }
        }
        for queue in topology.queues { note(queue.name, queue.policy, queuesInEffect[queue.name] ?? nil) }
        for exchange in topology.exchanges {
            if let policy = exchange.policy { note(exchange.name, policy, exchangesInEffect[exchange.name] ?? nil) }
        }
        return found
    }

    // MARK: What is stale

    private var stale: [TopologyDrift] {
        // A binding that moves is one difference, not two.
        let unmade = Set(comparison.unmadeBindings.map(\.address))
        let removable = Set(comparison.removableBindings(prunes: false).map(TopologyBinding.init))
        let stale = comparison.staleBindings.filter { !unmade.contains(TopologyBinding($0).address) }
        var rows = stale.map { binding in
            let isOurs = removable.contains(TopologyBinding(binding))
            return TopologyDrift(
                kind: .stale, object: TopologyBinding(binding).description,
                detail: isOurs ? "" : "another configuration may have this route", remedies: [.unbind(binding)])
        }
        let wantedQueues = Set(topology.queues.map(\.name))
        let ways = live.bindings.filter { $0.isToQueue && TopologyNames.isOurs(exchange: $0.source) }
        let boundQueues = Set(ways.map(\.destination))
        for queue in live.queues where !wantedQueues.contains(queue.name) && Self.isOurs(queue: queue.name) {
            rows.append(row(ofStale: queue, isBound: boundQueues.contains(queue.name)))
        }
        for policy in comparison.replacedPolicies {
            rows.append(
                TopologyDrift(
                    kind: .stale, object: "policy \(policy.name)", detail: "one for all routes takes its place",
                    remedies: [.clear(policy: policy.name)]))
        }
        let wantedPolicies = Set(topology.policies.map(\.name))
        let liveQueues = Set(live.queues.map(\.name))
        for policy in live.policies
        where !wantedPolicies.contains(policy.name)
            && (TopologyNames.isTierQueue(policy.name) || TopologyNames.isFurtherResultsQueue(policy.name))
        {
            // The policy must stay as long as its queue: it leads the queue's jobs back.
            guard !liveQueues.contains(policy.name) else { continue }
            rows.append(
                TopologyDrift(
                    kind: .stale, object: "policy \(policy.name)", detail: "its queue is gone",
                    remedies: [.clear(policy: policy.name)]))
        }
        return rows
    }

    /// What is said of a queue that is not wanted. A queue in use gets no command that deletes it, because messages
    /// would be lost.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - isBound: Whether a binding from an exchange of the contract leads to it.
    private func row(ofStale queue: LiveTopology.Queue, isBound: Bool) -> TopologyDrift {
        let object = "queue \(queue.name)"
        let consumers = queue.consumers ?? 0
        guard isBound || consumers > 0 else {
            let details = [staleReason(queue)] + lossWarning(queue)
            return TopologyDrift(
                kind: .stale, object: object, detail: details.joined(separator: "; "),
                remedies: [Self.carefulDeletion(of: queue)])
        }
        let details = [
            useReason(queue), isBound ? "a binding leads to it" : nil,
            consumers > 0 ? "it has \(consumers) \(consumers == 1 ? "consumer" : "consumers")" : nil,
        ]
        return TopologyDrift(
            kind: .stale, object: object, detail: details.compactMap(\.self).joined(separator: "; "), remedies: [])
    }

    /// Why a queue that is not wanted may be in use.
    private func useReason(_ queue: LiveTopology.Queue) -> String {
        if TopologyNames.isTierQueue(queue.name) {
            return "another configuration may have this tier: if none has, delete its exchange first\(Self.held(queue))"
        }
        guard TopologyNames.isJobQueue(queue.name), routeWithoutHighLane(queue) == nil else {
            return staleReason(queue)
        }
        return "another configuration may have this route\(Self.held(queue))"
    }

    /// Why a queue is not wanted any more, and what that means for its messages.
    private func staleReason(_ queue: LiveTopology.Queue) -> String {
        guard queue.messages != 0 else { return "not wanted any more; empty\(Self.countAge)" }
        let held = Self.held(queue)
        guard let route = routeWithoutHighLane(queue) else { return "not wanted any more\(held)" }
        return "\(route.name) has no high_lane any more\(held): let workers have high_lane: true until it is empty"
    }

    /// How old the management API's counts may be, in words: it counts every five seconds.
    private static let countAge = ", by a count up to 5 s old"

    /// How many messages a queue holds, in words that follow others; empty where it is empty, or the broker does not
    /// tell.
    private static func held(_ queue: LiveTopology.Queue) -> String {
        guard let messages = queue.messages, messages != 0 else { return "" }
        return "; holds \(messages) \(messages == 1 ? "message" : "messages")\(countAge)"
    }

    /// The job queue of the topology whose route a queue of `high` jobs belongs to; nil for other queues.
    private func routeWithoutHighLane(_ queue: LiveTopology.Queue) -> TopologyQueue? {
        topology.queues.first { TopologyNames.highJobQueue(of: $0.name) == queue.name }
    }

    /// How to delete a queue whose messages matter: only if it is empty, where RabbitMQ can do that.
    private static func carefulDeletion(of queue: LiveTopology.Queue) -> TopologyRemedy {
        .deleteQueue(name: queue.name, onlyIfEmpty: canDependOnEmptiness(queue))
    }

    /// Says that a queue's messages go with it, and how to look first; empty where RabbitMQ deletes only an empty one.
    private func lossWarning(_ queue: LiveTopology.Queue) -> [String] {
        guard !Self.canDependOnEmptiness(queue) else { return [] }
        return [
            "deleting it deletes its messages, so look first: rabbitmqctl list_queues -p "
                + "\(ShellText.quoted(topology.virtualHost)) name messages"
        ]
    }

    /// Whether RabbitMQ can delete a queue on the condition that it is empty. For a quorum queue it deletes nothing
    /// then, a stream it deletes in any case.
    private static func canDependOnEmptiness(_ queue: LiveTopology.Queue) -> Bool { queue.kind == "classic" }

    /// Whether a queue is of a kind that only a topology makes.
    private static func isOurs(queue name: String) -> Bool {
        name.hasPrefix(TopologyNames.jobQueue(route: "")) || TopologyNames.isTierQueue(name)
            || TopologyNames.isFurtherResultsQueue(name)
    }
}
