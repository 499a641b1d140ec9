import LocalStack
import PushModel
import Topology

/// One broker for all tests that need no other, with the objects of one route.
enum SharedBroker {
    /// The objects of a route `shop` for `com.a` in production, and of one retry tier.
    static let definitions = Array(
        BrokerTopology(
            routes: [TopologyRoute(name: "shop", environment: .production, topics: ["com.a"])],
            tiers: [RetryTier(milliseconds: 2000)]
        ).definitions().utf8)

    /// The broker, started with the first test that asks for it.
    static let broker = Result<PrivateBroker, any Error> {
        let broker = try PrivateBroker.start()
        try broker.importDefinitions(json: definitions)
        return broker
    }
}
