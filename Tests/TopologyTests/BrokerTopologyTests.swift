import PushModel
import Testing
import Topology

@Suite("Broker topology", .timeLimit(.minutes(1)))
struct BrokerTopologyTests {
    static let routes = [
        TopologyRoute(name: "shop", environment: .production, topics: ["com.example.shop", "com.example.pos"]),
        TopologyRoute(name: "beta", environment: .development, topics: ["com.example.shop"], highLane: true),
    ]
    static let tiers = [
        RetryTier(milliseconds: 2000), RetryTier(milliseconds: 60_000),
        RetryTier(milliseconds: 60_000, isHolding: true),
    ]
    static let topology = BrokerTopology(routes: routes, tiers: tiers)

    @Test("the exchanges are those of the contract")
    func exchanges() {
        #expect(
            Self.topology.exchanges.map { "\($0.name) \($0.kind.rawValue)" } == [
                "apns.return.unrouted fanout", "apns.return.moving topic", "apns.return topic",
                "apns.jobs.unrouted fanout", "apns.jobs.moving topic", "apns.jobs topic", "apns.retry.2s fanout",
                "apns.retry.1m fanout", "apns.retry.hold.1m fanout", "apns.results.unclaimed fanout",
                "apns.results topic", "apns.dead topic",
                "apns.replies direct", "apns.fleet fanout", "apns.control fanout",
            ])
    }

    @Test("the queues are those of the contract, with a high queue only where the route has one")
    func queues() {
        #expect(
            Self.topology.queues.map(\.name) == [
                "apns.q.jobs.unrouted.return", "apns.q.jobs.shop.return", "apns.q.jobs.beta.return",
                "apns.q.jobs.unrouted", "apns.q.jobs.shop", "apns.q.jobs.beta", "apns.q.jobs.beta.high",
                "apns.q.retry.2s", "apns.q.retry.1m", "apns.q.retry.hold.1m", "apns.q.results",
                "apns.q.results.unclaimed", "apns.q.dead",
                "apns.q.dead.broker", "apns.q.dead.tokens", "apns.q.fleet", "apns.q.control",
            ])
        #expect(
            Self.topology.queues.filter { $0.kind == .stream }.map(\.name) == ["apns.q.fleet", "apns.q.control"])
    }

    @Test(
        "policies say what the contract says",
        arguments: [
            ("apns.jobs", ["alternate-exchange=apns.jobs.moving"]),
            ("apns.jobs.moving", ["alternate-exchange=apns.jobs.unrouted"]),
            ("apns.return", ["alternate-exchange=apns.return.moving"]),
            ("apns.return.moving", ["alternate-exchange=apns.return.unrouted"]),
            ("apns.results", ["alternate-exchange=apns.results.unclaimed"]),
            (
                "apns.q.jobs.*",
                [
                    "dead-letter-exchange=apns.dead", "dead-letter-strategy=at-least-once", "overflow=reject-publish",
                    "delivery-limit=50", "max-length-bytes=2147483648", "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.jobs.*.return",
                [
                    "dead-letter-exchange=apns.dead", "dead-letter-strategy=at-least-once", "overflow=reject-publish",
                    "delivery-limit=50", "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.jobs.unrouted",
                [
                    "dead-letter-exchange=apns.dead", "dead-letter-strategy=at-least-once", "overflow=reject-publish",
                    "delivery-limit=50", "max-length-bytes=2147483648", "dead-letter-routing-key=invalid.-.-",
                    "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.retry.1m",
                [
                    "message-ttl=60000", "dead-letter-exchange=apns.return", "dead-letter-strategy=at-least-once",
                    "overflow=reject-publish", "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.retry.hold.1m",
                [
                    "message-ttl=60000", "dead-letter-exchange=apns.return", "dead-letter-strategy=at-least-once",
                    "overflow=reject-publish", "max-length-bytes=2147483648", "max-length=4194304",
                    "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.results",
                [
                    "max-length-bytes=2147483648", "overflow=reject-publish", "message-ttl=2592000000",
                    "delivery-limit=1000000", "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.dead.tokens",
                [
                    "max-length-bytes=1073741824", "overflow=drop-head", "message-ttl=2592000000",
                    "delivery-limit=1000000", "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.fleet",
                [
                    "max-age=5m", "max-length-bytes=16777216", "stream-max-segment-size-bytes=1048576",
                    "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.control",
                [
                    "max-age=30D", "max-length-bytes=16777216", "stream-max-segment-size-bytes=1048576",
                    "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.results.unclaimed",
                [
                    "max-length-bytes=104857600", "overflow=drop-head", "delivery-limit=1000000",
                    "queue-leader-locator=balanced",
                ]
            ),
        ])
    func policies(_ name: String, _ expected: [String]) {
        let policy = Self.topology.policies.first { $0.name == name }
        let settings = policy?.settings.map { setting in
            switch setting.value {
            case .integer(let number): "\(setting.key)=\(number)"
            case .text(let text): "\(setting.key)=\(text)"
            }
        }
        #expect(settings == expected)
    }

    /// A topology with all that configuration can ask for, and routes named like parts of other queues' names.
    static let full = BrokerTopology(
        routes: [
            TopologyRoute(
                name: "return", environment: .production, topics: ["com.a"], highLane: true,
                resultsQueue: "apns.q.results.team"),
            TopologyRoute(
                name: "high", environment: .production, topics: ["com.b"], highLane: true,
                resultsQueue: "apns.q.results.team"),
            TopologyRoute(
                name: "results", environment: .development, topics: ["com.a"], resultsQueue: "apns.q.results.t-1"),
            TopologyRoute(name: "1", environment: .development, topics: ["com.c"]),
        ], tiers: [RetryTier(milliseconds: 2000)], resultsQueues: 3)

    @Test(
        "of the policies that match a queue or an exchange the one that it names wins, and nothing else is matched",
        arguments: [topology, full])
    func policyInEffect(_ topology: BrokerTopology) throws {
        let names = topology.policies.map(\.name)
        #expect(Set(names).count == names.count)
        func winner(_ object: String, _ scope: TopologyPolicy.Scope) throws -> [String] {
            let matching = try topology.policies.filter { policy in
                try policy.scope == scope && object.firstMatch(of: Regex(policy.pattern)) != nil
            }
            let highest = matching.map(\.priority).max()
            return matching.filter { $0.priority == highest }.map(\.name)
        }
        for queue in topology.queues { #expect(try winner(queue.name, .queues) == [queue.policy]) }
        for exchange in topology.exchanges {
            #expect(try winner(exchange.name, .exchanges) == (exchange.policy.map { [$0] } ?? []))
        }
        for other in ["apns.q.tap.1", "apns.q.reply.shop.1", "apns.q.jobs.a.b", "x.apns.q.jobs.a", "apns.q.jobs."] {
            #expect(try winner(other, .queues) == [])
        }
    }

    @Test("policies do not grow with the number of routes")
    func fewPolicies() {
        func count(_ routes: Int) -> Int {
            let routes = (0..<routes).map {
                TopologyRoute(name: "app-\($0)", environment: .production, topics: ["com.app\($0)"], highLane: true)
            }
            return BrokerTopology(routes: routes, tiers: []).policies.count
        }
        #expect(count(1) == count(1000))
    }

    @Test("a team's queue gets the results of its routes' topics, and is there once for several routes")
    func resultCopies() {
        #expect(Self.full.queues.map(\.name).filter { $0 == "apns.q.results.team" }.count == 1)
        let keys = Self.full.bindings.filter { $0.queue == "apns.q.results.team" }.map(\.routingKey)
        #expect(keys.count == 2 * 9)
        #expect(keys.contains("*.production.com.a.voip") && keys.contains("*.production.com.b"))
        #expect(
            Self.full.bindings.filter { $0.queue == "apns.q.results.t-1" }.map(\.source)
                == Array(repeating: "apns.results", count: 9))
    }

    @Test("where results are dealt out over several queues, each gets its share of all slots")
    func dealtResults() {
        let bindings = Self.full.bindings.filter { $0.source == "apns.results" && $0.routingKey.hasPrefix("slot.") }
        #expect(Set(bindings.map(\.routingKey)).count == 64 && bindings.count == 64)
        #expect(
            bindings.prefix(4).map { "\($0.queue) \($0.routingKey)" } == [
                "apns.q.results slot.0", "apns.q.results.2 slot.1", "apns.q.results.3 slot.2", "apns.q.results slot.3",
            ])
        #expect(!Self.full.bindings.contains { $0.routingKey == "#" })
    }

    @Test("every topic with every suffix and class is bound by its exact key, once")
    func jobBindings() {
        let bindings = Self.topology.bindings.filter { $0.source == "apns.jobs" }
        #expect(bindings.count == 3 * 9 * 2)
        #expect(Set(bindings.map(\.routingKey)).count == bindings.count)
        #expect(bindings.allSatisfy { !$0.routingKey.contains("#") && !$0.routingKey.contains("*") })
        func queue(_ key: String) -> [String] { bindings.filter { $0.routingKey == key }.map(\.queue) }
        #expect(queue("production.normal.com.example.shop") == ["apns.q.jobs.shop"])
        #expect(queue("production.high.com.example.shop") == ["apns.q.jobs.shop"])
        #expect(queue("production.high.com.example.pos.push-type.liveactivity") == ["apns.q.jobs.shop"])
        #expect(queue("development.normal.com.example.shop.voip") == ["apns.q.jobs.beta"])
        #expect(queue("development.high.com.example.shop.voip") == ["apns.q.jobs.beta.high"])
    }

    @Test("what comes back from tiers finds its route's queue, whatever its class, and that queue refuses nothing")
    func returns() {
        let bindings = Self.topology.bindings.filter { $0.source == "apns.return" }
        #expect(bindings.count == 3 * 9 && Set(bindings.map(\.routingKey)).count == bindings.count)
        func queue(_ key: String) -> [String] { bindings.filter { $0.routingKey == key }.map(\.queue) }
        #expect(queue("production.*.com.example.shop") == ["apns.q.jobs.shop.return"])
        #expect(queue("development.*.com.example.shop.voip") == ["apns.q.jobs.beta.return"])
        for queue in Set(Self.topology.queues.map(\.name)) where queue.hasSuffix(TopologyNames.returnSuffix) {
            let name = Self.topology.queues.first { $0.name == queue }?.policy
            let policy = Self.topology.policies.first { $0.name == name }
            #expect(policy?.settings.contains { $0.key.hasPrefix("max-length") } == false)
        }
    }

    @Test("results and dead letters are bound by pattern")
    func otherBindings() {
        let bindings = Self.topology.bindings.filter { !["apns.jobs", "apns.return"].contains($0.source) }
        #expect(
            bindings.map { "\($0.source) \($0.queue) \($0.routingKey)" } == [
                "apns.return.unrouted apns.q.jobs.unrouted.return ",
                "apns.jobs.unrouted apns.q.jobs.unrouted ", "apns.retry.2s apns.q.retry.2s ",
                "apns.retry.1m apns.q.retry.1m ", "apns.retry.hold.1m apns.q.retry.hold.1m ",
                "apns.results apns.q.results #",
                "apns.results.unclaimed apns.q.results.unclaimed ", "apns.dead apns.q.dead rejected.#",
                "apns.dead apns.q.dead expired.#", "apns.dead apns.q.dead exhausted.#",
                "apns.dead apns.q.dead unknown.#", "apns.dead apns.q.dead invalid.#",
                "apns.dead apns.q.dead cancelled.#",
                "apns.dead apns.q.dead production.#", "apns.dead apns.q.dead.broker production.#",
                "apns.dead apns.q.dead development.#", "apns.dead apns.q.dead.broker development.#",
                "apns.dead apns.q.dead.broker invalid.-.-",
                "apns.dead apns.q.dead.tokens dead_token.#", "apns.fleet apns.q.fleet ",
                "apns.control apns.q.control ",
            ])
    }

    @Test(
        "tiers are named by their delay, however it was written",
        arguments: [(2000, "2s"), (60_000, "1m"), (90_000, "90s"), (1500, "1500ms"), (3_600_000, "1h")])
    func tierNames(_ milliseconds: Int64, _ name: String) {
        #expect(RetryTier(milliseconds: milliseconds).queue == "apns.q.retry.\(name)")
        #expect(RetryTier(milliseconds: milliseconds).exchange == "apns.retry.\(name)")
        let holding = RetryTier(milliseconds: milliseconds, isHolding: true)
        #expect(holding.queue == "apns.q.retry.hold.\(name)" && holding.exchange == "apns.retry.hold.\(name)")
    }

    @Test(
        "the routes table finds the route of a topic with its suffix",
        arguments: [
            ("com.example.shop", APNSEnvironment.production, 0), ("com.example.shop", .development, 1),
            ("com.example.pos.voip-ptt", .production, 0), ("com.example.pos", .development, nil),
            ("com.example.shop.push-type.controls", .development, 1), ("com.example.shop.other", .production, nil),
            ("com.example.sho", .production, nil), ("com.example.shopp", .production, nil),
            ("com.example.shop.", .production, nil), ("", .production, nil),
            ("com.example.shop.voip.voip", .production, nil), ("COM.example.shop", .production, nil),
        ] as [(String, APNSEnvironment, Int?)])
    func table(_ topic: String, _ environment: APNSEnvironment, _ expected: Int?) {
        let table = RoutesTable(routes: Self.routes)
        let bytes = Array(topic.utf8)
        #expect(table.route(environment, bytes.span) == expected)
        for index in Self.routes.indices {
            #expect(table.route(index, claims: environment, bytes.span) == (index == expected))
        }
    }
}
