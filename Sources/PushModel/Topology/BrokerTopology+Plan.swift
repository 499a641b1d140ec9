/// One change of a broker on its way to a topology.
package enum TopologyStep: Sendable, Equatable {
    /// Gives a policy its settings.
    case set(TopologyPolicy)
    /// Declares an exchange.
    case declareExchange(TopologyExchange)
    /// Declares a queue.
    case declareQueue(TopologyQueue)
    /// Binds a queue to an exchange.
    case bind(TopologyBinding)
    /// Takes a binding away.
    case unbind(LiveTopology.Binding)
    /// Takes a policy away.
    case clear(policy: String)
}

/// The way from what a broker holds to what it should hold, on which no message goes astray or goes two ways.
extension BrokerTopology {
    /// The steps, in the order in which they must be taken.
    ///
    /// The way can be left at any step and taken up again from what the broker holds then. Policies come before what
    /// they are for, so that no queue is ever without its limits; those that lead messages elsewhere wait until that is
    /// there. What a step leaves behind that only the broker can name, the next plan removes: plan until nothing is left.
    /// - Parameters:
    ///   - live: What the broker holds.
    ///   - prunes: Whether bindings go, too, that lead to queues of routes which this topology does not have.
    package func plan(from live: LiveTopology, prunes: Bool) -> [TopologyStep] {
        let exchangesThere = Set(live.exchanges.map(\.name))
        let queuesThere = Set(live.queues.map(\.name))
        let policies = unmetPolicies(in: live).map(\.policy)
        let later = policies.filter { policy in
            policy.scope == .exchanges
                ? exchangesThere.contains(policy.name)
                : queuesThere.contains(policy.name) && isTier(queue: policy.name)
        }
        var steps = policies.filter { !later.contains($0) }.map(TopologyStep.set)
        steps += exchanges.filter { !exchangesThere.contains($0.name) }.map(TopologyStep.declareExchange)
        steps += queues.filter { !queuesThere.contains($0.name) }.map(TopologyStep.declareQueue)
        let rivals = rivals(in: live)
        let unmade = unmadeBindings(in: live)
        steps += unmade.filter { rivals[$0.address] == nil }.map(TopologyStep.bind)
        steps += later.map(TopologyStep.set)

        let leaving = removableBindings(in: live, prunes: prunes)
        var moved: Set<TopologyBinding> = []
        for binding in unmade {
            guard let rival = rivals[binding.address], leaving.contains(rival) else { continue }
            moved.insert(TopologyBinding(rival))
            steps += Self.move(binding, from: rival)
        }
        steps += leaving.filter { !moved.contains(TopologyBinding($0)) }.map(TopologyStep.unbind)
        steps += replacedPolicies(in: live).map { .clear(policy: $0.name) }
        return steps
    }

    /// The stale bindings that a plan takes away.
    ///
    /// - Parameter prunes: Whether also those go that lead to queues of routes which this topology does not have.
    package func removableBindings(in live: LiveTopology, prunes: Bool) -> [LiveTopology.Binding] {
        let owned = Set(queues.map(\.name))
        let routes = Set(owned.map(Self.route(ofQueue:)))
        return staleBindings(in: live).filter { prunes || routes.contains(Self.route(ofQueue: $0.destination)) }
    }

    /// The stale bindings that lead from where unmade bindings are to begin: with both, a job would be pushed twice.
    func rivals(in live: LiveTopology) -> [TopologyBinding.Address: LiveTopology.Binding] {
        let ways = [TopologyNames.jobs, TopologyNames.returns]
        let stale = staleBindings(in: live).filter { ways.contains($0.source) }
        return Dictionary(stale.map { (TopologyBinding($0).address, $0) }) { first, _ in first }
    }

    /// Leads a key to another queue so that each message goes to one of them: what finds no binding any more goes on
    /// to the alternate exchange, where the new way is there before the old one ends.
    private static func move(_ binding: TopologyBinding, from rival: LiveTopology.Binding) -> [TopologyStep] {
        let isJob = binding.source == TopologyNames.jobs
        let between = TopologyBinding(
            source: isJob ? TopologyNames.movingJobs : TopologyNames.movingReturns, queue: binding.queue,
            routingKey: binding.routingKey)
        return [.bind(between), .unbind(rival), .bind(binding)]
    }

    /// The job queue of the route that a queue belongs to, or the queue itself.
    private static func route(ofQueue name: String) -> String {
        for suffix in [TopologyNames.returnSuffix, TopologyNames.highSuffix] where name.hasSuffix(suffix) {
            return String(name.dropLast(suffix.count))
        }
        return name
    }
}
