/// Everything that the broker must hold for some routes and retry tiers: pure values, in a fixed order.
///
/// Queues are durable: two are streams, all others are quorum queues. Everything that can be tuned is a policy, because
/// policies can be changed while queues live. Job bindings are exact keys, because another app may share a prefix.
/// [Policies](https://www.rabbitmq.com/docs/policies), [quorum queues](https://www.rabbitmq.com/docs/quorum-queues)
package struct BrokerTopology: Sendable, Equatable {
    /// The virtual host that holds it all.
    package let virtualHost: String
    /// The exchanges.
    package let exchanges: [TopologyExchange]
    /// The queues.
    package let queues: [TopologyQueue]
    /// The bindings.
    package let bindings: [TopologyBinding]
    /// The policies. An object names one policy; among those that match the object, that policy has the highest
    /// priority.
    package let policies: [TopologyPolicy]
    /// The exchanges of others that may lead jobs into it: those of `jobs.from`.
    package var trustedExchanges: Set<String> = []

    /// How many bytes wait at most in a holding tier, unless the configuration says otherwise: as many as in a route's
    /// job queue.
    package static let usualHoldingLimit = 2 << 30

    /// Works out the objects.
    ///
    /// - Parameters:
    ///   - routes: The routes. No two may claim the same environment and topic.
    ///   - tiers: The retry tiers and the holding tiers, each once.
    ///   - holdingLimit: How many bytes wait at most in a holding tier.
    ///   - resultsQueues: Over how many queues results are dealt out, at least one.
    ///   - virtualHost: Where the objects live.
    package init(
        routes: [TopologyRoute], tiers: [RetryTier], holdingLimit: Int = Self.usualHoldingLimit, resultsQueues: Int = 1,
        virtualHost: String = "/"
    ) {
        var objects = TopologyBuilder()
        // The return bindings come before the job bindings, because a pushed job may come back.
        objects.addReturns(routes)
        objects.addJobs(routes)
        for tier in tiers { objects.addTier(tier, limit: Int64(holdingLimit)) }
        objects.addResults(queues: resultsQueues)
        objects.addResultCopies(routes)
        objects.addDeadLetters()
        objects.addReplies()
        objects.addFleet()
        objects.addControl()
        self.virtualHost = virtualHost
        exchanges = objects.exchanges
        queues = objects.queues
        bindings = objects.bindings
        policies = objects.policies
    }

    /// Compares the topology with a broker's virtual host.
    ///
    /// - Parameter live: The objects that the virtual host holds.
    /// - Returns: The differences, and the means against them.
    package func compared(with live: LiveTopology) -> TopologyComparison { TopologyComparison(self, live) }
}
