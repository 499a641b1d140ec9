/// The way from what a broker holds to what it should hold, on which no message goes astray or goes two ways.
extension BrokerTopology {
    /// The steps, in the order in which they must be taken.
    ///
    /// - The steps may stop anywhere. The next plan goes on from what the broker holds then.
    /// - A policy comes before the queues that it limits, so that no queue is ever without its limits.
    /// - A policy that leads messages to another queue or exchange waits until that queue or exchange is there.
    /// - A step may leave something behind that only the broker can name. The next plan removes it: plan until nothing is
    ///   left.
    ///
    /// - Parameters:
    ///   - live: What the broker holds.
    ///   - prunes: Whether bindings go, too, that lead to queues of routes which this topology does not have.
    package func plan(from live: LiveTopology, prunes: Bool) -> [TopologyStep] {
        let exchangesThere = Set(live.exchanges.map(\.name))
        let queuesThere = Set(live.queues.map(\.name))
        let waiting = prunes ? [] : waitingTiers(in: live)
        let policies = unmetPolicies(in: live).map(\.policy).filter { !waiting.contains($0.name) }
        let later = policies.filter { policy in
            policy.scope == .exchanges
                ? exchangesThere.contains(policy.name)
                : queuesThere.contains(policy.name) && isTier(queue: policy.name)
        }
        let leaving = removableBindings(in: live, prunes: prunes)
        // Of a move that is over; left there, it would get what moves next, too.
        let bound = Set(live.bindings.filter(\.isToQueue).map { TopologyBinding($0).address })
        let idle = leaving.filter { Self.origin(ofLeftover: $0).map(bound.contains) == true }
        let rivals = rivals(in: live)
        let unmade = unmadeBindings(in: live)

        var steps = policies.filter { !later.contains($0) }.map(TopologyStep.set)
        steps += exchanges.filter { !exchangesThere.contains($0.name) }.map(TopologyStep.declareExchange)
        steps += queues.filter { !queuesThere.contains($0.name) }.map(TopologyStep.declareQueue)
        steps += idle.map(TopologyStep.unbind)
        steps += unmade.filter { rivals[$0.address] == nil }.map(TopologyStep.bind)
        steps += later.map(TopologyStep.set)
        // Not before the policy that leads it back: it would be gone.
        steps += keepingTiers(in: live).filter { tier in
            tier.isMendedByPolicy && later.contains { $0.name == tier.queue }
        }.map { .release(tier: $0.queue) }
        var gone = Set(idle.map(TopologyBinding.init))
        for binding in unmade {
            guard let rivals = rivals[binding.address], rivals.allSatisfy(leaving.contains) else { continue }
            gone.formUnion(rivals.map(TopologyBinding.init))
            steps += Self.move(binding, from: rivals)
        }
        steps += leaving.filter { !gone.contains(TopologyBinding($0)) }.map(TopologyStep.unbind)
        steps += replacedPolicies(in: live).map { .clear(policy: $0.name) }
        return steps
    }

    /// The job queues of other configurations to which no copy comes back from `apns.return`.
    ///
    /// Those configurations have not been applied since return queues came.
    ///
    /// - Parameter live: What the broker holds.
    func queuesWithoutReturns(in live: LiveTopology) -> [String] {
        let own = Set(queues.map(\.name))
        let returning = live.bindings.filter { $0.isToQueue && $0.source == TopologyNames.returns }.map(\.destination)
        let returned = Set(returning.map(TopologyNames.normalQueue(of:)))
        let bound = live.bindings.filter {
            $0.isToQueue && $0.source == TopologyNames.jobs && TopologyNames.isJobQueue($0.destination)
        }
        return Set(bound.map { TopologyNames.normalQueue(of: $0.destination) }).subtracting(own).subtracting(returned)
            .sorted()
    }

    /// The tiers that keep leading to `apns.jobs`, as earlier versions had it, because copies of other configurations'
    /// jobs have no other way back.
    ///
    /// - Parameter live: What the broker holds.
    func waitingTiers(in live: LiveTopology) -> Set<String> {
        guard !queuesWithoutReturns(in: live).isEmpty else { return [] }
        let earlier = live.policies.filter {
            isTier(queue: $0.name) && $0.settings["dead-letter-exchange"] == .text(TopologyNames.jobs)
        }
        return Set(earlier.map(\.name))
    }

    /// The stale bindings that a plan takes away.
    ///
    /// - Parameter prunes: Whether also those go that lead to queues of routes which this topology does not have.
    package func removableBindings(in live: LiveTopology, prunes: Bool) -> [LiveTopology.Binding] {
        let own = Set(
            queues.map(\.name).flatMap {
                [$0, TopologyNames.highJobQueue(of: $0), "\($0)\(TopologyNames.returnSuffix)"]
            })
        let addresses = Set(bindings.map(\.address))
        return staleBindings(in: live).filter { binding in
            prunes || own.contains(binding.destination) || TopologyNames.isFurtherResultsQueue(binding.destination)
                || Self.origin(ofLeftover: binding).map(addresses.contains) == true
        }
    }

    /// The stale bindings that lead from where unmade bindings are to begin: with both, a job would be pushed twice.
    func rivals(in live: LiveTopology) -> [TopologyBinding.Address: [LiveTopology.Binding]] {
        let stale = staleBindings(in: live).filter { TopologyNames.moving[$0.source] != nil }
        return Dictionary(grouping: stale) { TopologyBinding($0).address }
    }

    /// Where a binding leads a key while it moves; nil for one that does not begin where jobs do.
    static func between(_ binding: TopologyBinding) -> TopologyBinding? {
        TopologyNames.moving[binding.source].map {
            TopologyBinding(source: $0, queue: binding.queue, routingKey: binding.routingKey)
        }
    }

    /// Leads a key to another queue so that each message goes to one of them: what finds no binding any more goes on
    /// to the alternate exchange, where the new way is there before the old one ends.
    private static func move(_ binding: TopologyBinding, from rivals: [LiveTopology.Binding]) -> [TopologyStep] {
        (between(binding).map { [.bind($0)] } ?? []) + rivals.map(TopologyStep.unbind) + [.bind(binding)]
    }

    /// The original binding address of a leftover from an interrupted move; nil for other bindings.
    private static func origin(ofLeftover binding: LiveTopology.Binding) -> TopologyBinding.Address? {
        TopologyNames.moving.first { $0.value == binding.source }.map {
            TopologyBinding.Address(source: $0.key, routingKey: binding.routingKey)
        }
    }
}
