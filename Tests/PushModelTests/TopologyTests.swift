import PushModel
import Testing

@Suite("Broker topology", .timeLimit(.minutes(1)))
struct TopologyTests {
    static let routes = [
        TopologyRoute(name: "shop", environment: .production, topics: ["com.example.shop", "com.example.pos"]),
        TopologyRoute(name: "beta", environment: .development, topics: ["com.example.shop"], highLane: true),
    ]
    static let topology = BrokerTopology(
        routes: routes, tiers: [RetryTier(milliseconds: 2000), RetryTier(milliseconds: 60_000)])

    @Test("the exchanges are those of the contract")
    func exchanges() {
        #expect(
            Self.topology.exchanges.map { "\($0.name) \($0.kind.rawValue)" } == [
                "apns.return topic", "apns.return.unrouted fanout", "apns.jobs topic", "apns.jobs.unrouted fanout",
                "apns.retry.2s fanout", "apns.retry.1m fanout", "apns.results topic", "apns.results.unclaimed fanout",
                "apns.dead topic", "apns.replies direct",
            ])
    }

    @Test("the queues are those of the contract, with a high queue only where the route has one")
    func queues() {
        #expect(
            Self.topology.queues.map(\.name) == [
                "apns.q.jobs.unrouted.return", "apns.q.jobs.shop.return", "apns.q.jobs.beta.return",
                "apns.q.jobs.unrouted", "apns.q.jobs.shop", "apns.q.jobs.beta", "apns.q.jobs.beta.high",
                "apns.q.retry.2s", "apns.q.retry.1m", "apns.q.results", "apns.q.results.unclaimed", "apns.q.dead",
                "apns.q.dead.tokens",
            ])
    }

    @Test(
        "policies say what the contract says",
        arguments: [
            ("apns.jobs", ["alternate-exchange=apns.jobs.unrouted"]),
            ("apns.results", ["alternate-exchange=apns.results.unclaimed"]),
            (
                "apns.q.jobs.shop",
                [
                    "dead-letter-exchange=apns.dead", "dead-letter-strategy=at-least-once", "overflow=reject-publish",
                    "delivery-limit=50", "max-length-bytes=2147483648", "queue-leader-locator=balanced",
                ]
            ),
            (
                "apns.q.jobs.shop.return",
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

    @Test("each queue and each exchange with settings has exactly one policy, matching it alone")
    func onePolicyEach() {
        let names = Self.topology.policies.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(names) == Set(Self.topology.queues.map(\.name) + ["apns.jobs", "apns.return", "apns.results"]))
        #expect(
            Self.topology.policies.map(\.pattern).contains("^apns\\.q\\.jobs\\.beta$"))
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
            let policy = Self.topology.policies.first { $0.name == queue }
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
                "apns.retry.1m apns.q.retry.1m ", "apns.results apns.q.results #",
                "apns.results.unclaimed apns.q.results.unclaimed ", "apns.dead apns.q.dead rejected.#",
                "apns.dead apns.q.dead expired.#", "apns.dead apns.q.dead exhausted.#",
                "apns.dead apns.q.dead unknown.#", "apns.dead apns.q.dead invalid.#",
                "apns.dead apns.q.dead production.#", "apns.dead apns.q.dead development.#",
                "apns.dead apns.q.dead.tokens dead_token.#",
            ])
    }

    @Test(
        "tiers are named by their delay, however it was written",
        arguments: [(2000, "2s"), (60_000, "1m"), (90_000, "90s"), (1500, "1500ms"), (3_600_000, "1h")])
    func tierNames(_ milliseconds: Int64, _ name: String) {
        #expect(RetryTier(milliseconds: milliseconds).queue == "apns.q.retry.\(name)")
        #expect(RetryTier(milliseconds: milliseconds).exchange == "apns.retry.\(name)")
    }

    @Test(
        "suffixes make topics overlap",
        arguments: [
            ("com.a", "com.a", true), ("com.a", "com.a.voip", true), ("com.a.voip", "com.a", true),
            ("com.a", "com.a.extension", false), ("com.a", "com.ab", false), ("com.a", "com.a.push-type.widgets", true),
            ("com.a.voip", "com.a.complication", false),
        ])
    func overlap(_ left: String, _ right: String, _ expected: Bool) {
        #expect(TopicSuffix.overlap(left, right) == expected)
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
