/// Everything the broker must hold for some routes and retry tiers: pure values, in a fixed order.
///
/// Queues are durable quorum queues; whatever can be tuned is a policy, because policies can be changed while queues
/// live. Job bindings are exact keys, because another app may share a prefix.
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
    /// The policies; of those that match an object, the one that it names has the highest priority.
    package let policies: [TopologyPolicy]

    /// Works out the objects.
    ///
    /// - Parameters:
    ///   - routes: The routes; no two may claim one (environment, topic).
    ///   - tiers: The retry delays, each once.
    ///   - resultsQueues: Over how many queues results are dealt out, at least one.
    ///   - virtualHost: Where the objects live.
    package init(routes: [TopologyRoute], tiers: [RetryTier], resultsQueues: Int = 1, virtualHost: String = "/") {
        var objects = TopologyBuilder()
        // Pushed jobs may come back, so the return bindings come before the job bindings.
        objects.addReturns(routes)
        objects.addJobs(routes)
        for tier in tiers { objects.addRetry(tier) }
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

    /// Compares it with what a broker holds.
    ///
    /// - Parameter live: What the virtual host holds.
    /// - Returns: What differs, and what to do about it.
    package func compared(with live: LiveTopology) -> TopologyComparison { TopologyComparison(self, live) }
}
