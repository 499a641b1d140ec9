import PushModel

@testable import Topology

extension LiveTopology {
    /// What versions before return queues made at a broker: nothing comes back by way of `apns.return`, nothing moves
    /// by way of `*.moving`, and every queue has a policy of its own.
    ///
    /// - Parameters:
    ///   - routes: The routes.
    ///   - tiers: The retry tiers, which lead back to `apns.jobs`.
    static func withoutReturns(_ routes: [TopologyRoute], tiers: [RetryTier]) -> LiveTopology {
        var live = LiveTopology()
        live.addEarlierJobs(routes)
        for tier in tiers {
            live.addEarlier(exchange: tier.exchange, "fanout")
            live.addEarlier(
                queue: tier.queue, of: [tier.exchange: [""]],
                deadLettering(to: "apns.jobs").merging(["message-ttl": .integer(tier.milliseconds)]) { $1 })
        }
        live.addEarlier(exchange: "apns.results", "topic", otherwise: "apns.results.unclaimed")
        live.addEarlier(exchange: "apns.results.unclaimed", "fanout")
        live.addEarlier(queue: "apns.q.results", of: ["apns.results": ["#"]], kept)
        live.addEarlier(
            queue: "apns.q.results.unclaimed", of: ["apns.results.unclaimed": [""]],
            [
                "max-length-bytes": .integer(100 << 20), "overflow": .text("drop-head"),
                "delivery-limit": .integer(1_000_000),
            ])
        live.addEarlier(exchange: "apns.dead", "topic")
        let outcomes = ["rejected", "expired", "exhausted", "unknown", "invalid", "production", "development"]
        live.addEarlier(queue: "apns.q.dead", of: ["apns.dead": outcomes.map { "\($0).#" }], kept)
        live.addEarlier(
            queue: "apns.q.dead.tokens", of: ["apns.dead": ["dead_token.#"]],
            kept.merging(["max-length-bytes": .integer(1 << 30), "overflow": .text("drop-head")]) { $1 })
        return live
    }

    private mutating func addEarlierJobs(_ routes: [TopologyRoute]) {
        let settings = Self.deadLettering(to: "apns.dead").merging([
            "delivery-limit": .integer(50), "max-length-bytes": .integer(2 << 30),
        ]) { $1 }
        addEarlier(exchange: "apns.jobs", "topic", otherwise: "apns.jobs.unrouted")
        addEarlier(exchange: "apns.jobs.unrouted", "fanout")
        addEarlier(
            queue: "apns.q.jobs.unrouted", of: ["apns.jobs.unrouted": [""]],
            settings.merging(["dead-letter-routing-key": .text("invalid.-.-")]) { $1 })
        for route in routes {
            func keys(_ jobClass: String) -> [String] {
                route.topics.flatMap { topic in
                    TopicSuffix.all.map { "\(route.environment.rawValue).\(jobClass).\(topic)\($0)" }
                }
            }
            let (normal, high) = (keys("normal"), keys("high"))
            addEarlier(
                queue: "apns.q.jobs.\(route.name)", of: ["apns.jobs": route.highLane ? normal : normal + high],
                settings)
            if route.highLane { addEarlier(queue: "apns.q.jobs.\(route.name).high", of: ["apns.jobs": high], settings) }
        }
    }

    private mutating func addEarlier(exchange name: String, _ kind: String, otherwise other: String? = nil) {
        exchanges.append(.init(name: name, kind: kind, policy: other.map { _ in name }))
        if let other { addEarlier(policy: name, "exchanges", ["alternate-exchange": .text(other)]) }
    }

    private mutating func addEarlier(
        queue name: String, of ways: [String: [String]], _ settings: [String: TopologyValue]
    ) {
        queues.append(.init(name: name, kind: "quorum", policy: name))
        for (exchange, keys) in ways {
            bindings += keys.map {
                .init(
                    source: exchange, destination: name, routingKey: $0, propertiesKey: $0.isEmpty ? "~" : $0)
            }
        }
        addEarlier(policy: name, "queues", settings)
    }

    private mutating func addEarlier(policy name: String, _ scope: String, _ settings: [String: TopologyValue]) {
        policies.append(
            .init(
                name: name, pattern: TopologyPolicy.pattern(matching: name), scope: scope, priority: 10,
                settings: settings))
    }

    private static func deadLettering(to exchange: String) -> [String: TopologyValue] {
        [
            "dead-letter-exchange": .text(exchange), "dead-letter-strategy": .text("at-least-once"),
            "overflow": .text("reject-publish"),
        ]
    }

    private static let kept: [String: TopologyValue] = [
        "max-length-bytes": .integer(2 << 30), "overflow": .text("reject-publish"),
        "message-ttl": .integer(30 * 86_400_000), "delivery-limit": .integer(1_000_000),
    ]
}
