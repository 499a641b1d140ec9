/// The steps from what a broker holds to what it should hold. While they are taken, no message is lost, and none goes
/// two ways. Pure.
///
/// - The steps may stop anywhere. The next plan goes on from what the broker holds then.
/// - A policy comes before the queues that it limits, so that no queue is ever without its limits.
/// - A policy that leads messages to another queue or exchange waits until that queue or exchange is there.
/// - A step may leave something behind that only the broker can name. The next plan removes it: plan until nothing is
///   left.
struct TopologyPlan {
    private let comparison: TopologyComparison
    private let leaving: [LiveTopology.Binding]
    private let prunes: Bool

    /// A plan for a comparison.
    ///
    /// - Parameters:
    ///   - comparison: What should be, and what is there.
    ///   - leaving: The stale bindings to remove.
    ///   - prunes: Whether also bindings go that lead to queues of routes which the topology does not have.
    init(_ comparison: TopologyComparison, removing leaving: [LiveTopology.Binding], prunes: Bool) {
        self.comparison = comparison
        self.leaving = leaving
        self.prunes = prunes
    }

    /// The steps, in the order in which they must be taken.
    var steps: [TopologyStep] {
        let (topology, live) = (comparison.topology, comparison.live)
        let exchangesThere = Set(live.exchanges.map(\.name))
        let queuesThere = Set(live.queues.map(\.name))
        let waiting = prunes ? [] : comparison.waitingTiers
        let keeping = comparison.keepingTiers
        let overruled = Set(keeping.filter { $0.rival != nil }.map(\.queue))
        let policies = comparison.unmetPolicies.map(\.policy).filter {
            !waiting.contains($0.name) && !overruled.contains($0.name)
        }
        let later = policies.filter { policy in
            policy.scope == .exchanges
                ? exchangesThere.contains(policy.name)
                : queuesThere.contains(policy.name) && TopologyNames.isTierQueue(policy.name)
        }
        // Bindings that stood in during a move that is over. If they stayed, they would also get the messages of the
        // next move.
        let bound = Set(live.bindings.filter(\.isToQueue).map { TopologyBinding($0).address })
        let idle = leaving.filter { TopologyBinding($0).origin.map(bound.contains) == true }
        let rivals = comparison.rivals
        let unmade = comparison.unmadeBindings

        var steps = policies.filter { !later.contains($0) }.map(TopologyStep.set)
        steps += topology.exchanges.filter { !exchangesThere.contains($0.name) }.map(TopologyStep.declareExchange)
        steps += topology.queues.filter { !queuesThere.contains($0.name) }.map(TopologyStep.declareQueue)
        steps += idle.map(TopologyStep.unbind)
        steps += unmade.filter { rivals[$0.address] == nil }.map(TopologyStep.bind)
        let full = Set(keeping.map(\.queue))
        steps += later.filter { !full.contains($0.name) }.map(TopologyStep.set)
        // Once the rival is gone, only the tier's own policy tells that copies came without it: by its priority, or by
        // being missing.
        let silent = Set(live.policies.filter { $0.priority != TopologyBuilder.unfinishedPriority }.map(\.name))
        steps += topology.policies.filter { overruled.contains($0.name) && silent.contains($0.name) }
            .map { .set($0.unfinished) }
        // Messages are released only after the policy that leads them back is set. Without it they would be gone.
        for policy in later where full.contains(policy.name) {
            steps += [.set(policy.unfinished), .release(tier: policy.name), .set(policy)]
        }
        var gone = Set(idle.map(TopologyBinding.init))
        for binding in unmade {
            guard let rivals = rivals[binding.address], rivals.allSatisfy(leaving.contains) else { continue }
            gone.formUnion(rivals.map(TopologyBinding.init))
            steps += Self.move(binding, from: rivals)
        }
        steps += leaving.filter { !gone.contains(TopologyBinding($0)) }.map(TopologyStep.unbind)
        steps += comparison.replacedPolicies.map { .clear(policy: $0.name) }
        return steps
    }

    /// Leads a key to another queue, so that each message goes to exactly one of the two. A message without a binding
    /// goes on to the alternate exchange. There the new binding is made before the old one ends.
    private static func move(_ binding: TopologyBinding, from rivals: [LiveTopology.Binding]) -> [TopologyStep] {
        (binding.whileMoving.map { [.bind($0)] } ?? []) + rivals.map(TopologyStep.unbind) + [.bind(binding)]
    }
}
