/// Comparing what should be with what is.
extension BrokerTopology {
    /// Every difference, in the order exchanges, queues, bindings, policies, stale things last.
    ///
    /// Only objects whose names begin with `apns.` count, and tap and reply queues and other people's bindings to the
    /// results and dead-letter exchanges are theirs to keep.
    /// - Parameter live: What the virtual host holds.
    /// - Returns: One row per difference; empty when all is as it should be.
    package func drift(from live: LiveTopology) -> [TopologyDrift] {
        exchangeDrift(live) + queueDrift(live) + missingBindings(live) + policyDrift(live) + stale(live)
    }

    /// The bindings that earlier configurations left behind: into queues of this topology, from where jobs begin into any
    /// job queue, and into queues over which results are not dealt out any more.
    ///
    /// What is bound to a team's queue for copies of results, other configurations and the team may have bound.
    func staleBindings(in live: LiveTopology) -> [LiveTopology.Binding] {
        let wanted = Set(bindings)
        let sources = Set(exchanges.map(\.name))
        let owned = Set(queues.filter { $0.policy != TopologyBuilder.resultCopyPolicy }.map(\.name))
        let ways = Set(TopologyNames.moving.keys).union(TopologyNames.moving.values)
        return live.bindings.filter { binding in
            guard binding.isToQueue, sources.contains(binding.source) else { return false }
            let queue = binding.destination
            let isJobBinding = ways.contains(binding.source) && queue.hasPrefix(TopologyNames.jobQueue(route: ""))
            guard isJobBinding || owned.contains(queue) || TopologyNames.isFurtherResultsQueue(queue) else {
                return false
            }
            return !wanted.contains(TopologyBinding(binding))
        }
    }

    /// How many of this topology's queues each node of a cluster leads, by the nodes' names; empty for a single node.
    ///
    /// A leader does most of its queue's work. [Leader placement](https://www.rabbitmq.com/docs/clustering#replica-placement)
    package func leaders(in live: LiveTopology) -> [(node: String, queues: Int)] {
        let owned = Set(queues.map(\.name))
        let ours = live.queues.filter { owned.contains($0.name) }
        let nodes = Set(ours.flatMap(\.members)).sorted()
        guard nodes.count > 1 else { return [] }
        return nodes.map { node in (node, ours.count { $0.leader == node }) }
    }

    /// The wanted bindings that are not there.
    func unmadeBindings(in live: LiveTopology) -> [TopologyBinding] {
        let present = Set(live.bindings.filter(\.isToQueue).map(TopologyBinding.init))
        return bindings.filter { !present.contains($0) }
    }

    /// The wanted policies that are not there or differ, each with what differs; nothing for what is not there.
    func unmetPolicies(in live: LiveTopology) -> [(policy: TopologyPolicy, differences: [String])] {
        let present = Dictionary(live.policies.map { ($0.name, $0) }) { first, _ in first }
        return policies.compactMap { wanted in
            guard let found = present[wanted.name] else { return (wanted, []) }
            let differences = Self.differences(wanted, found)
            return differences.isEmpty ? nil : (wanted, differences)
        }
    }

    /// The policies of earlier versions for single queues of routes, which share one now.
    func replacedPolicies(in live: LiveTopology) -> [LiveTopology.Policy] {
        let wanted = Set(policies.map(\.name))
        return live.policies.filter { policy in
            !wanted.contains(policy.name) && policy.name.hasPrefix(TopologyNames.jobQueue(route: ""))
                && policy.pattern == TopologyPolicy.pattern(matching: policy.name)
        }
    }

    private func exchangeDrift(_ live: LiveTopology) -> [TopologyDrift] {
        let present = Dictionary(live.exchanges.map { ($0.name, $0) }) { first, _ in first }
        return exchanges.compactMap { wanted in
            let object = "exchange \(wanted.name)"
            let declare = TopologyRemedy.declareExchange(name: wanted.name, kind: wanted.kind)
            guard let found = present[wanted.name] else {
                return TopologyDrift(kind: .missing, object: object, detail: "", remedies: [declare])
            }
            guard found.kind != wanted.kind.rawValue || !found.isDurable else { return nil }
            let detail =
                "is \(found.isDurable ? "durable" : "transient") \(found.kind), should be durable "
                + wanted.kind.rawValue
            let delete = TopologyRemedy.deleteExchange(name: wanted.name)
            return TopologyDrift(kind: .different, object: object, detail: detail, remedies: [delete, declare])
        }
    }

    private func queueDrift(_ live: LiveTopology) -> [TopologyDrift] {
        let present = Dictionary(live.queues.map { ($0.name, $0) }) { first, _ in first }
        return queues.compactMap { wanted in
            let object = "queue \(wanted.name)"
            let declare = TopologyRemedy.declareQueue(name: wanted.name, kind: wanted.kind)
            guard let found = present[wanted.name] else {
                return TopologyDrift(kind: .missing, object: object, detail: "", remedies: [declare])
            }
            var details: [String] = []
            if found.kind != wanted.kind.rawValue || !found.isDurable {
                details.append(
                    "is \(found.isDurable ? "durable" : "transient") \(found.kind), should be durable "
                        + wanted.kind.rawValue)
            }
            if !found.arguments.isEmpty {
                details.append(
                    "has arguments that no policy can change: \(found.arguments.sorted().joined(separator: ", "))")
            }
            guard !details.isEmpty else { return nil }
            // Only an empty queue may go: its messages are jobs or results. Reports in a stream nobody misses.
            let delete = TopologyRemedy.deleteQueue(name: wanted.name, onlyIfEmpty: wanted.kind != .stream)
            return TopologyDrift(
                kind: .different, object: object, detail: details.joined(separator: "; "), remedies: [delete, declare])
        }
    }

    private func missingBindings(_ live: LiveTopology) -> [TopologyDrift] {
        let rivals = rivals(in: live)
        let removable = Set(removableBindings(in: live, prunes: false).map(TopologyBinding.init))
        return unmadeBindings(in: live).map { binding in
            guard let rivals = rivals[binding.address], let first = rivals.first else {
                return TopologyDrift(
                    kind: .missing, object: binding.description, detail: "", remedies: [.bind(binding)])
            }
            let isOurs = rivals.allSatisfy { removable.contains(TopologyBinding($0)) }
            let others = isOurs ? "" : ", of a route that this configuration does not have: --prune moves it"
            var remedies = rivals.map(TopologyRemedy.unbind) + [.bind(binding)]
            if let between = Self.between(binding) {
                remedies = [.bind(between)] + remedies + [.unbind(Self.live(between))]
            }
            return TopologyDrift(
                kind: .missing, object: binding.description, detail: "goes to \(first.destination) now\(others)",
                remedies: remedies)
        }
    }

    private func policyDrift(_ live: LiveTopology) -> [TopologyDrift] {
        let unmet = unmetPolicies(in: live)
        let kept = Dictionary(keepingTiers(in: live).map { ($0.queue, $0) }) { first, _ in first }
        let waiting = waitingTiers(in: live)
        let others = queuesWithoutReturns(in: live).joined(separator: ", ")
        var rows = unmet.map { policy, differences in
            let waits = waiting.contains(policy.name)
            let reasons = [
                kept[policy.name]?.detail,
                waits ? "waits for the return queues of \(others): apply their configuration, or --prune them" : nil,
            ]
            return TopologyDrift(
                kind: differences.isEmpty ? .missing : .different, object: "policy \(policy.name)",
                detail: (reasons.compactMap(\.self) + differences).joined(separator: "; "),
                // What waits has to be led back, too, which takes more than one command.
                remedies: [kept[policy.name]?.isMendedByPolicy == true || waits ? .apply : .set(policy)])
        }
        // A policy of equal content can still be without effect, when another one with a higher priority matches.
        let met = Set(policies.map(\.name)).subtracting(unmet.map(\.policy.name))
        let present = Dictionary(live.policies.map { ($0.name, $0) }) { first, _ in first }
        for (name, objects) in overruled(live) where met.contains(name.wanted) {
            guard let wanted = present[name.wanted], let rival = present[name.rival] else { continue }
            let others = objects.count > 1 ? " and \(objects.count - 1) more" : ""
            let keeps = kept[wanted.name].map { "\($0.detail); " } ?? ""
            rows.append(
                TopologyDrift(
                    kind: .different, object: "policy \(wanted.name)",
                    detail: "\(keeps)has no effect on \(objects[0])\(others): policy \(rival.name) has priority "
                        + "\(rival.priority), this one \(wanted.priority)",
                    remedies: [.clear(policy: rival.name)]))
        }
        return rows
    }

    /// The differences by which tiers keep their copies for ever.
    ///
    /// - Parameter live: What the virtual host holds.
    /// - Returns: One row per tier; empty where every copy comes back.
    package func keepingTierDrift(from live: LiveTopology) -> [TopologyDrift] {
        let objects = Set(keepingTiers(in: live).map { "policy \($0.queue)" })
        return policyDrift(live).filter { objects.contains($0.object) }
    }

    /// The tiers that keep their copies for ever, because no policy in effect lets these expire and leads them back.
    ///
    /// - Parameter live: What the virtual host holds.
    /// - Returns: The queue of each, what is wrong with it in words, and whether its own policy, once set, is in effect.
    func keepingTiers(
        in live: LiveTopology
    ) -> [(queue: String, detail: String, isMendedByPolicy: Bool)] {
        let policies = Dictionary(live.policies.map { ($0.name, $0.settings) }) { first, _ in first }
        let wanted = Set(queues.map(\.name))
        return live.queues.filter { wanted.contains($0.name) && isTier(queue: $0.name) }.compactMap { queue in
            let settings = queue.policy.flatMap { policies[$0] } ?? [:]
            let missing = ["message-ttl", "dead-letter-exchange"].filter {
                settings[$0] == nil && !queue.arguments.contains("x-\($0)")
            }
            guard !missing.isEmpty else { return nil }
            let copies = queue.messages.map { "; \($0) wait in it" } ?? ""
            return (
                queue.name,
                "the tier keeps its copies for ever: no \(missing.joined(separator: " and no ")) is in effect\(copies)",
                queue.policy == nil || queue.policy == queue.name
            )
        }
    }

    /// The policies that ought to be in effect and the ones that are, with the objects for which this is so.
    private func overruled(_ live: LiveTopology) -> [(name: (wanted: String, rival: String), objects: [String])] {
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
        for queue in queues { note(queue.name, queue.policy, queuesInEffect[queue.name] ?? nil) }
        for exchange in exchanges {
            if let policy = exchange.policy { note(exchange.name, policy, exchangesInEffect[exchange.name] ?? nil) }
        }
        return found
    }

    private func stale(_ live: LiveTopology) -> [TopologyDrift] {
        // What moves is one difference, not two.
        let unmade = Set(unmadeBindings(in: live).map(\.address))
        let removable = Set(removableBindings(in: live, prunes: false).map(TopologyBinding.init))
        let stale = staleBindings(in: live).filter { !unmade.contains(TopologyBinding($0).address) }
        var rows = stale.map { binding in
            let isOurs = removable.contains(TopologyBinding(binding))
            return TopologyDrift(
                kind: .stale, object: TopologyBinding(binding).description,
                detail: isOurs ? "" : "another configuration may have this route", remedies: [.unbind(binding)])
        }
        let wantedQueues = Set(queues.map(\.name))
        for queue in live.queues where !wantedQueues.contains(queue.name) && Self.isOurs(queue: queue.name) {
            rows.append(
                TopologyDrift(
                    kind: .stale, object: "queue \(queue.name)", detail: staleReason(queue),
                    remedies: [.deleteQueue(name: queue.name, onlyIfEmpty: true)]))
        }
        for policy in replacedPolicies(in: live) {
            rows.append(
                TopologyDrift(
                    kind: .stale, object: "policy \(policy.name)", detail: "one for all routes takes its place",
                    remedies: [.clear(policy: policy.name)]))
        }
        let wantedPolicies = Set(policies.map(\.name))
        let liveQueues = Set(live.queues.map(\.name))
        for policy in live.policies
        where !wantedPolicies.contains(policy.name)
            && (isTier(queue: policy.name) || TopologyNames.isFurtherResultsQueue(policy.name))
        {
            // While its queue lives, the policy is what leads the jobs in it back.
            guard !liveQueues.contains(policy.name) else { continue }
            rows.append(
                TopologyDrift(
                    kind: .stale, object: "policy \(policy.name)", detail: "its queue is gone",
                    remedies: [.clear(policy: policy.name)]))
        }
        return rows
    }

    /// Why a queue is not wanted any more, and what that means for what is in it.
    private func staleReason(_ queue: LiveTopology.Queue) -> String {
        let held = queue.messages.map { "; holds \($0) messages" } ?? ""
        guard queue.messages != 0 else { return "not wanted any more; empty" }
        guard let route = queues.first(where: { TopologyNames.highJobQueue(of: $0.name) == queue.name }) else {
            return "not wanted any more\(held)"
        }
        return "\(route.name) has no high_lane any more\(held): let workers have high_lane: true until it is empty"
    }

    /// A binding without arguments as a broker has it.
    private static func live(_ binding: TopologyBinding) -> LiveTopology.Binding {
        // The management API's own name for it: its key, where needed percent-encoded.
        let key = binding.routingKey.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "%2A")
        return LiveTopology.Binding(
            source: binding.source, destination: binding.queue, routingKey: binding.routingKey, propertiesKey: key)
    }

    private static func differences(_ wanted: TopologyPolicy, _ found: LiveTopology.Policy) -> [String] {
        var details: [String] = []
        if found.pattern != wanted.pattern {
            details.append("pattern is \(found.pattern), should be \(wanted.pattern)")
        }
        if found.scope != wanted.scope.rawValue {
            details.append("applies to \(found.scope), should be \(wanted.scope.rawValue)")
        }
        if found.priority != wanted.priority {
            details.append("priority is \(found.priority), should be \(wanted.priority)")
        }
        for setting in wanted.settings {
            guard let value = found.settings[setting.key] else {
                details.append("\(setting.key) is not set, should be \(text(setting.value))")
                continue
            }
            if value != setting.value {
                details.append("\(setting.key) is \(text(value)), should be \(text(setting.value))")
            }
        }
        let known = Set(wanted.settings.map(\.key))
        for key in found.settings.keys.sorted() where !known.contains(key) {
            details.append("\(key) is set, should not be")
        }
        return details
    }

    /// Whether a queue is of a kind that only a topology makes.
    private static func isOurs(queue name: String) -> Bool {
        name.hasPrefix(TopologyNames.jobQueue(route: "")) || name.hasPrefix(TopologyNames.retryQueuePrefix)
            || TopologyNames.isFurtherResultsQueue(name)
    }

    /// Whether a queue is a retry tier.
    package func isTier(queue name: String) -> Bool { name.hasPrefix(TopologyNames.retryQueuePrefix) }

    private static func text(_ value: TopologyValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .text(let text): text
        }
    }

    /// A word for a shell: as it is when harmless, else in single quotes.
    package static func shellQuoted(_ text: String) -> String {
        let isHarmless =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "/"):
                    true
                default: false
                }
            }
        return isHarmless
            ? text : "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
