/// The objects that a broker should hold, beside those that it holds. The report of differences and the plan are made
/// from this comparison.
///
/// Pure. Only objects whose names begin with `apns.` count. Tap queues, reply queues, and other people's bindings to
/// the exchanges of results and dead letters are left alone.
package struct TopologyComparison: Sendable {
    /// A tier that keeps its copies for ever, because no setting in effect lets them expire and leads them back.
    struct KeepingTier {
        /// Its queue.
        let queue: String
        /// What is wrong with it, in words.
        let detail: String
        /// The policy that would be in effect even if its own were set; nil for none. It must go first: under it, what
        /// is led back could be lost.
        let rival: String?
    }

    /// The objects that should be there.
    let topology: BrokerTopology
    /// The objects that are there.
    let live: LiveTopology
    /// The wanted bindings that are missing.
    let unmadeBindings: [TopologyBinding]
    /// The bindings that earlier configurations left behind:
    ///
    /// - bindings to queues of this topology, except the queues for copies of results, because other configurations and
    ///   their teams may have bound those;
    /// - bindings to any job queue from the exchange of jobs or of returns, or from one that stands in for it during a
    ///   move;
    /// - bindings to queues over which results are not dealt out any more.
    let staleBindings: [LiveTopology.Binding]

    /// Compares.
    ///
    /// - Parameters:
    ///   - topology: What should be.
    ///   - live: What the virtual host holds.
    init(_ topology: BrokerTopology, _ live: LiveTopology) {
        self.topology = topology
        self.live = live
        let present = Set(live.bindings.filter(\.isToQueue).map(TopologyBinding.init))
        unmadeBindings = topology.bindings.filter { !present.contains($0) }
        staleBindings = Self.staleBindings(topology, live)
    }

    // MARK: What follows

    /// Every difference, in the order exchanges, queues, bindings, policies, stale objects, what others made; empty
    /// without one.
    package var drift: [TopologyDrift] { DriftReport(self).rows }

    /// The differences that are ways of others into the objects of the contract.
    package var foreignWays: [TopologyDrift] { DriftReport(self).foreignWays }

    /// The differences because of which tiers keep their copies for ever, one for each tier; empty if every copy comes
    /// back.
    package var keepingTierDrift: [TopologyDrift] { DriftReport(self).keepingTiers }

    /// The steps from what is there to what should be there.
    ///
    /// - Parameters:
    ///   - prunes: Whether also bindings go that lead to queues of routes which this topology does not have.
    ///   - isAllowed: Which of the bindings may go.
    /// - Returns: The steps, in the order in which they must be taken.
    package func plan(
        prunes: Bool, removing isAllowed: (LiveTopology.Binding) -> Bool = { _ in true }
    ) -> [TopologyStep] {
        TopologyPlan(self, removing: removableBindings(prunes: prunes).filter(isAllowed), prunes: prunes).steps
    }

    /// How many of this topology's queues each node of a cluster leads, by the nodes' names; empty for a single node.
    ///
    /// A leader does most of its queue's work.
    /// [Leader placement](https://www.rabbitmq.com/docs/clustering#replica-placement)
    package var leaders: [(node: String, queues: Int)] {
        let owned = Set(topology.queues.map(\.name))
        let ours = live.queues.filter { owned.contains($0.name) }
        let nodes = Set(ours.flatMap(\.members)).sorted()
        guard nodes.count > 1 else { return [] }
        return nodes.map { node in (node, ours.count { $0.leader == node }) }
    }

    // MARK: Bindings

    private static func staleBindings(_ topology: BrokerTopology, _ live: LiveTopology) -> [LiveTopology.Binding] {
        let wanted = Set(topology.bindings)
        let sources = Set(topology.exchanges.map(\.name))
        let owned = Set(topology.queues.filter { $0.policy != TopologyBuilder.resultCopyPolicy }.map(\.name))
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

    /// The stale bindings that a plan removes.
    ///
    /// - Parameter prunes: Whether also those go that lead to queues of routes which this topology does not have.
    /// - Returns: Some or all of `staleBindings`.
    package func removableBindings(prunes: Bool) -> [LiveTopology.Binding] {
        let own = Set(
            topology.queues.map(\.name).flatMap {
                [$0, TopologyNames.highJobQueue(of: $0), "\($0)\(TopologyNames.returnSuffix)"]
            })
        let addresses = Set(topology.bindings.map(\.address))
        return staleBindings.filter { binding in
            prunes || own.contains(binding.destination) || TopologyNames.isFurtherResultsQueue(binding.destination)
                || TopologyBinding(binding).origin.map(addresses.contains) == true
        }
    }

    /// The stale bindings from the exchanges whose bindings move, by exchange and key. Together with a wanted binding
    /// of the same address, such a binding would have a job pushed twice.
    var rivals: [TopologyBinding.Address: [LiveTopology.Binding]] {
        let stale = staleBindings.filter { TopologyNames.moving[$0.source] != nil }
        return Dictionary(grouping: stale) { TopologyBinding($0).address }
    }

    // MARK: Policies and tiers

    /// The wanted policies that are missing or differ, each with its differences; none for a missing one.
    var unmetPolicies: [(policy: TopologyPolicy, differences: [String])] {
        let present = Dictionary(live.policies.map { ($0.name, $0) }) { first, _ in first }
        return topology.policies.compactMap { wanted in
            guard let found = present[wanted.name] else { return (wanted, []) }
            let differences = wanted.differences(from: found)
            return differences.isEmpty ? nil : (wanted, differences)
        }
    }

    /// The policies that earlier versions made for single queues of routes. These queues share one policy now. A policy
    /// with another priority or with other settings is somebody else's, whatever its name is.
    var replacedPolicies: [LiveTopology.Policy] {
        let wanted = Set(topology.policies.map(\.name))
        return live.policies.filter { policy in
            !wanted.contains(policy.name) && policy.name.hasPrefix(TopologyNames.jobQueue(route: ""))
                && policy.pattern == TopologyPolicy.pattern(matching: policy.name)
                && policy.priority == TopologyBuilder.priority
                && TopologyBuilder.earlierJobKeys.isSuperset(of: policy.settings.keys)
        }
    }

    /// The tiers that keep their copies for ever.
    var keepingTiers: [KeepingTier] {
        let policies = PolicyMatcher(live.policies)
        let own = Dictionary(topology.policies.map { ($0.name, $0) }) { first, _ in first }
        return live.queues.compactMap { queue in
            guard TopologyNames.isTierQueue(queue.name), let wanted = own[queue.name] else { return nil }
            let policy = policies.policy(of: queue, reported: queue.policy)
            let missing = ["message-ttl", "dead-letter-exchange"].filter {
                policy?.settings[$0] == nil && !queue.arguments.contains("x-\($0)")
            }
            let why =
                if !missing.isEmpty {
                    "no \(missing.joined(separator: " and no ")) is in effect"
                } else if policy?.name == wanted.name, policy?.priority == TopologyBuilder.unfinishedPriority {
                    "they came before its policy, and were not all led back"
                } else {
                    nil as String?
                }
            guard let why else { return nil }
            let copies = queue.messages.map { "; \($0) wait in it" } ?? ""
            return KeepingTier(
                queue: queue.name, detail: "the tier keeps its copies for ever: \(why)\(copies)",
                rival: policies.rival(of: wanted, on: queue)?.name)
        }
    }

    /// The job queues of other configurations to which no copy comes back from `apns.return`.
    ///
    /// Those configurations have not been applied since return queues were introduced.
    var queuesWithoutReturns: [String] {
        let own = Set(topology.queues.map(\.name))
        let returning = live.bindings.filter { $0.isToQueue && $0.source == TopologyNames.returns }.map(\.destination)
        let returned = Set(returning.map(TopologyNames.normalQueue(of:)))
        let bound = live.bindings.filter {
            $0.isToQueue && $0.source == TopologyNames.jobs && TopologyNames.isJobQueue($0.destination)
        }
        return Set(bound.map { TopologyNames.normalQueue(of: $0.destination) }).subtracting(own).subtracting(returned)
            .sorted()
    }

    /// The tiers that still lead to `apns.jobs`, as in earlier versions. Copies of other configurations' jobs have no
    /// other way back.
    var waitingTiers: Set<String> {
        guard !queuesWithoutReturns.isEmpty else { return [] }
        let earlier = live.policies.filter {
            TopologyNames.isTierQueue($0.name) && $0.settings["dead-letter-exchange"] == .text(TopologyNames.jobs)
        }
        return Set(earlier.map(\.name))
    }
}
