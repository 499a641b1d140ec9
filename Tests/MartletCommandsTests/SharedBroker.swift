import LocalStack
import PushModel
import Testing
import Topology

/// One broker for all tests that need no other, with the objects of one route.
enum SharedBroker {
    /// The objects of a route `shop` for `com.a` in production, and of one retry tier.
    static let definitions = Array(
        BrokerTopology(
            routes: [TopologyRoute(name: "shop", environment: .production, topics: ["com.a"])],
            tiers: [false, true].map { RetryTier(milliseconds: 2000, isHolding: $0) }
        ).definitions().utf8)

    /// The broker, started with the first test that asks for it.
    static let broker = Result<PrivateBroker, any Error> {
        let broker = try PrivateBroker.start()
        try broker.importDefinitions(json: definitions)
        return broker
    }
}

extension PrivateBroker {
    /// Expects a queue to hold so many messages, none of them with a consumer.
    ///
    /// A quorum queue takes back what a consumer had a moment after the consumer's channel is closed. So this waits, for
    /// half a minute at most.
    func expect(
        _ ready: Int, in queue: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = QueueCounts(ready: ready, unacknowledged: 0)
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        var found = try queueCounts()[queue]
        while found != expected, ContinuousClock.now < deadline { found = try queueCounts()[queue] }
        #expect(found == expected, "\(queue)", sourceLocation: sourceLocation)
    }
}
