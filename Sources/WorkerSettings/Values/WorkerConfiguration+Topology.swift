package import PushModel
import Text
package import Topology

extension WorkerConfiguration {
    /// The routes as the topology and the routes table see them, in the order of the configuration.
    package var topologyRoutes: [TopologyRoute] { routes.map(\.topology) }

    /// The retry tiers, ascending, then the holding tiers, ascending.
    package var retryTiers: [RetryTier] { RetryTier.all(of: retry.policy) }

    /// What the broker must hold for this configuration.
    ///
    /// - Parameter virtualHost: The virtual host of the broker URI.
    package func topology(virtualHost: String) -> BrokerTopology {
        var topology = BrokerTopology(
            routes: topologyRoutes, tiers: retryTiers, holdingLimit: retry.holdingLimit,
            resultsQueues: results.queues, virtualHost: virtualHost)
        topology.trustedExchanges = Set(jobsFrom)
        return topology
    }

    /// Where jobs of each (environment, topic) belong; positions are those of ``routes``.
    package var routesTable: RoutesTable { RoutesTable(routes: topologyRoutes) }
}

extension RouteConfiguration {
    /// The route as the topology and the routes table see it.
    package var topology: TopologyRoute {
        TopologyRoute(
            name: name, environment: environment, topics: topics, highLane: highLane, resultsQueue: resultsQueue)
    }
}
