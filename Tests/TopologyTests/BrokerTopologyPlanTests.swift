import PushModel
import Testing

@testable import Topology

/// A broker's bindings and alternate exchanges, to which steps are done one by one.
private struct PlannedBroker {
    var live: LiveTopology

    mutating func take(_ step: TopologyStep) {
        switch step {
        case .set(let policy):
            live.policies.removeAll { $0.name == policy.name }
            live.policies.append(
                .init(
                    name: policy.name, pattern: policy.pattern, scope: policy.scope.rawValue, priority: policy.priority,
                    settings: Dictionary(uniqueKeysWithValues: policy.settings.map { ($0.key, $0.value) })))
        case .declareExchange(let exchange):
            live.exchanges.append(.init(name: exchange.name, kind: exchange.kind.rawValue))
        case .declareQueue(let queue): live.queues.append(.init(name: queue.name, kind: queue.kind.rawValue))
        case .bind(let binding):
            let made = LiveTopology.Binding(
                source: binding.source, destination: binding.queue, routingKey: binding.routingKey,
                propertiesKey: binding.routingKey)
            if !live.bindings.contains(made) { live.bindings.append(made) }
        case .unbind(let binding): live.bindings.removeAll { $0 == binding }
        case .clear(let policy): live.policies.removeAll { $0.name == policy }
        case .release: break
        }
    }

    /// The queues that a message to an exchange reaches, by way of alternate exchanges where nothing is bound.
    func queues(_ exchange: String, _ key: String) -> [String] {
        guard live.exchanges.contains(where: { $0.name == exchange }) else { return [] }
        let bound = live.bindings.filter { $0.source == exchange && ($0.routingKey == key || $0.routingKey.isEmpty) }
        guard bound.isEmpty else { return bound.map(\.destination) }
        let policy = live.policies.first { $0.scope == "exchanges" && $0.name == exchange }
        guard case .text(let other)? = policy?.settings["alternate-exchange"] else { return [] }
        return queues(other, key)
    }

    /// The queues that a copy of a topic reaches after its time in a tier.
    func queues(after tier: RetryTier, _ environment: String, _ topic: String) -> [String] {
        let policy = live.policies.first { $0.scope == "queues" && $0.name == tier.queue }
        guard case .text(let exchange)? = policy?.settings["dead-letter-exchange"] else { return [] }
        let jobClass = exchange == "apns.jobs" ? "normal" : "*"
        return queues(exchange, "\(environment).\(jobClass).\(topic)")
    }
}

@Suite("Topology plan", .timeLimit(.minutes(3)))
struct BrokerTopologyPlanTests {
    private static let tiers = [RetryTier(milliseconds: 2000)]
    /// Two routes, one of which has its `high` jobs apart.
    private static let before = BrokerTopology(
        routes: [
            TopologyRoute(name: "a", environment: .production, topics: ["com.a", "com.moving"], highLane: true),
            TopologyRoute(name: "b", environment: .production, topics: ["com.b"]),
        ], tiers: tiers)
    /// A topic has moved, and the other route has its `high` jobs apart.
    private static let after = BrokerTopology(
        routes: [
            TopologyRoute(name: "a", environment: .production, topics: ["com.a"]),
            TopologyRoute(name: "b", environment: .production, topics: ["com.b", "com.moving"], highLane: true),
        ], tiers: tiers)

    private static func broker(_ topology: BrokerTopology) -> PlannedBroker {
        PlannedBroker(live: TopologyDriftTests.live(topology))
    }

    /// Where messages of three topics begin, whatever their class.
    private static let ways = ["com.a", "com.b", "com.moving"].flatMap { topic in
        [
            ("apns.jobs", "production.normal.\(topic)"), ("apns.jobs", "production.high.\(topic)"),
            ("apns.return", "production.*.\(topic)"),
        ]
    }

    @Test("whichever step is the last, each job has one way, and a new plan finds the rest of it")
    func everyStep() {
        let plan = Self.after.compared(with: Self.broker(Self.before).live).plan(prunes: false)
        #expect(plan.count > 9)
        for length in 0...plan.count {
            var broker = Self.broker(Self.before)
            for step in plan.prefix(length) { broker.take(step) }
            for (exchange, key) in Self.ways {
                let queues = broker.queues(exchange, key)
                #expect(queues.count == 1 && !queues[0].contains("unrouted"), "\(key) after \(length) steps: \(queues)")
            }
            for _ in 0..<2 {
                for step in Self.after.compared(with: broker.live).plan(prunes: false) {
                    broker.take(step)
                    for (exchange, key) in Self.ways { #expect(broker.queues(exchange, key).count == 1, "\(key)") }
                }
            }
            #expect(Self.after.compared(with: broker.live).plan(prunes: false) == [])
            #expect(broker.queues("apns.jobs", "production.high.com.moving") == ["apns.q.jobs.b.high"])
            #expect(broker.queues("apns.return", "production.*.com.moving") == ["apns.q.jobs.b.return"])
            #expect(broker.queues("apns.jobs", "production.high.com.a") == ["apns.q.jobs.a"])
        }
    }

    @Test("an empty broker gets policies, exchanges, queues and bindings, in this order")
    func empty() {
        let plan = Self.before.compared(with: LiveTopology()).plan(prunes: false)
        let kinds = plan.map { step in
            switch step {
            case .set: "policy"
            case .declareExchange: "exchange"
            case .declareQueue: "queue"
            case .bind: "binding"
            case .unbind, .clear, .release: "removal"
            }
        }
        var order: [String] = []
        for kind in kinds where order.last != kind { order.append(kind) }
        #expect(order == ["policy", "exchange", "queue", "binding"])
        var broker = PlannedBroker(live: LiveTopology())
        for step in plan { broker.take(step) }
        #expect(Self.before.compared(with: broker.live).plan(prunes: false) == [])
    }

    @Test("a broker from before operators' commands gets their stream, and nothing else changes")
    func control() {
        let topology = BrokerTopologyTests.topology
        var live = TopologyDriftTests.live()
        live.exchanges.removeAll { $0.name == "apns.control" }
        live.queues.removeAll { $0.name == "apns.q.control" }
        live.bindings.removeAll { $0.source == "apns.control" }
        live.policies.removeAll { $0.name == "apns.q.control" }
        let kinds = topology.compared(with: live).plan(prunes: false).map { step in
            switch step {
            case .set(let policy): "policy \(policy.name)"
            case .declareExchange(let exchange): "exchange \(exchange.name)"
            case .declareQueue(let queue): "\(queue.kind.rawValue) \(queue.name)"
            case .bind(let binding): "\(binding.source) to \(binding.queue)"
            case .unbind, .clear, .release: "removal"
            }
        }
        #expect(
            kinds == [
                "policy apns.q.control", "exchange apns.control", "stream apns.q.control",
                "apns.control to apns.q.control",
            ])
    }

    @Test("a configuration with half of the routes leaves the bindings of the other half alone, unless it prunes")
    func half() {
        let half = BrokerTopology(
            routes: [TopologyRoute(name: "b", environment: .production, topics: ["com.b"])], tiers: Self.tiers)
        let live = Self.broker(Self.before).live
        #expect(half.compared(with: live).plan(prunes: false) == [])
        let pruning = half.compared(with: live).plan(prunes: true)
        #expect(pruning.count == 2 * 9 * 3)
        #expect(
            pruning.allSatisfy { step in
                if case .unbind(let binding) = step { binding.destination.hasPrefix("apns.q.jobs.a") } else { false }
            })
    }

    @Test("a topic that a route of another configuration has is not bound a second time, and the difference is told")
    func taken() {
        let taking = BrokerTopology(
            routes: [TopologyRoute(name: "c", environment: .production, topics: ["com.a"])], tiers: Self.tiers)
        var broker = Self.broker(Self.before)
        for step in taking.compared(with: broker.live).plan(prunes: false) { broker.take(step) }
        #expect(broker.queues("apns.jobs", "production.normal.com.a") == ["apns.q.jobs.a"])
        let row = taking.compared(with: broker.live).drift.first { $0.object.hasSuffix("production.normal.com.a") }
        #expect(
            row?.detail
                == "goes to apns.q.jobs.a now, of a route that this configuration does not have: --prune moves it")
        for _ in 0..<2 { for step in taking.compared(with: broker.live).plan(prunes: true) { broker.take(step) } }
        #expect(broker.queues("apns.jobs", "production.normal.com.a") == ["apns.q.jobs.c"])
        #expect(broker.queues("apns.return", "production.*.com.a") == ["apns.q.jobs.c.return"])
    }

    @Test("a broker of an earlier version, whose jobs have no way to move by, gets it before anything moves")
    func earlierVersion() {
        var old = Self.broker(Self.before)
        old.live.exchanges.removeAll { $0.name.hasSuffix(".moving") }
        old.live.policies.removeAll { $0.name.hasSuffix(".moving") || $0.name.contains("*") }
        for index in old.live.policies.indices {
            let name = old.live.policies[index].name
            guard ["apns.jobs", "apns.return"].contains(name) else { continue }
            old.live.policies[index].settings["alternate-exchange"] = .text("\(name).unrouted")
        }
        for step in Self.after.compared(with: old.live).plan(prunes: false) {
            old.take(step)
            for (exchange, key) in Self.ways {
                let queues = old.queues(exchange, key)
                #expect(queues.count == 1 && !queues[0].contains("unrouted"), "\(key) after \(step)")
            }
        }
        #expect(old.queues("apns.jobs", "production.high.com.moving") == ["apns.q.jobs.b.high"])
    }

    @Test("whichever step is the last without return queues at first, jobs and copies in tiers have one way each")
    func withoutReturns() {
        let tiers = [RetryTier(milliseconds: 2_000), RetryTier(milliseconds: 60_000)]
        let routes = [
            TopologyRoute(name: "a", environment: .production, topics: ["com.a", "com.moving"], highLane: true),
            TopologyRoute(name: "b", environment: .production, topics: ["com.b"]),
        ]
        let first = PlannedBroker(live: .withoutReturns(routes, tiers: tiers))
        let target = BrokerTopology(routes: routes, tiers: tiers)
        let jobs = Self.ways.filter { $0.0 == "apns.jobs" }
        let plan = target.compared(with: first.live).plan(prunes: false)
        #expect(plan.count > 50)
        for length in 0...plan.count {
            var broker = first
            for step in plan.prefix(length) { broker.take(step) }
            for (exchange, key) in jobs {
                let queues = broker.queues(exchange, key)
                #expect(queues.count == 1 && !queues[0].contains("unrouted"), "\(key): \(queues), \(length)")
            }
            for tier in tiers {
                for topic in ["com.a", "com.b", "com.moving"] {
                    let queues = broker.queues(after: tier, "production", topic)
                    #expect(queues.count == 1 && !queues[0].contains("unrouted"), "\(topic): \(queues), \(length)")
                }
            }
            for _ in 0..<2 { for step in target.compared(with: broker.live).plan(prunes: false) { broker.take(step) } }
            #expect(target.compared(with: broker.live).plan(prunes: false) == [])
            #expect(broker.queues(after: tiers[0], "production", "com.a") == ["apns.q.jobs.a.return"])
        }
    }

    @Test("without return queues of another configuration, tiers lead where its copies have a way, until it is applied")
    func withoutReturnsOfOthers() {
        let routes = [
            TopologyRoute(name: "a", environment: .production, topics: ["com.a", "com.moving"], highLane: true),
            TopologyRoute(name: "b", environment: .production, topics: ["com.b"]),
        ]
        var broker = PlannedBroker(live: .withoutReturns(routes, tiers: Self.tiers))
        let halves = routes.map { BrokerTopology(routes: [$0], tiers: Self.tiers) }
        func ways() -> [String] {
            ["com.a", "com.moving", "com.b"].flatMap { broker.queues(after: Self.tiers[0], "production", $0) }
        }
        for _ in 0..<2 { for step in halves[1].compared(with: broker.live).plan(prunes: false) { broker.take(step) } }
        #expect(halves[1].compared(with: broker.live).plan(prunes: false) == [])
        #expect(ways() == ["apns.q.jobs.a", "apns.q.jobs.a", "apns.q.jobs.b"])
        let row = halves[1].compared(with: broker.live).drift.first { $0.object == "policy \(Self.tiers[0].queue)" }
        #expect(row?.detail.hasPrefix("waits for the return queues of apns.q.jobs.a: ") == true, "\(row?.detail ?? "")")
        #expect(row?.remedies == [.apply])

        for step in halves[0].compared(with: broker.live).plan(prunes: false) {
            broker.take(step)
            #expect(ways().count == 3 && ways().allSatisfy { !$0.contains("unrouted") }, "\(ways()) after \(step)")
        }
        #expect(ways() == ["apns.q.jobs.a.return", "apns.q.jobs.a.return", "apns.q.jobs.b.return"])
        for half in halves { #expect(half.compared(with: broker.live).plan(prunes: false) == []) }
    }

    @Test("what a move that was ended half way left behind gets nothing of the next move, whatever its target")
    func nextTarget() {
        let plan = Self.after.compared(with: Self.broker(Self.before).live).plan(prunes: false)
        let next = BrokerTopology(
            routes: [
                TopologyRoute(name: "a", environment: .production, topics: ["com.a"], highLane: true),
                TopologyRoute(name: "b", environment: .production, topics: ["com.b"]),
                TopologyRoute(name: "c", environment: .production, topics: ["com.moving"]),
            ], tiers: Self.tiers)
        for target in [next, Self.before] {
            for length in 0...plan.count {
                var broker = Self.broker(Self.before)
                for step in plan.prefix(length) { broker.take(step) }
                for _ in 0..<2 {
                    for step in target.compared(with: broker.live).plan(prunes: false) {
                        broker.take(step)
                        for (exchange, key) in Self.ways {
                            let queues = broker.queues(exchange, key)
                            #expect(queues.count == 1 && !queues[0].contains("unrouted"), "\(key): \(queues)")
                        }
                    }
                }
                #expect(target.compared(with: broker.live).plan(prunes: false) == [])
                #expect(!broker.live.bindings.contains { TopologyNames.moving.values.contains($0.source) })
            }
        }
    }

    @Test("of a key that was bound to two queues both bindings end before the third begins")
    func twoRivals() {
        var broker = Self.broker(Self.before)
        let key = "production.high.com.moving"
        broker.take(.bind(TopologyBinding(source: "apns.jobs", queue: "apns.q.jobs.b", routingKey: key)))
        for step in Self.after.compared(with: broker.live).plan(prunes: false) {
            broker.take(step)
            if case .bind(let binding) = step, binding.source == "apns.jobs", binding.routingKey == key {
                #expect(broker.queues("apns.jobs", key) == ["apns.q.jobs.b.high"])
            }
        }
        #expect(broker.queues("apns.jobs", key) == ["apns.q.jobs.b.high"])
    }

    @Test("routes named like parts of other queues' names are told apart, and a team's other bindings are its own")
    func names() {
        let others = BrokerTopology(
            routes: [TopologyRoute(name: "return", environment: .production, topics: ["com.r"])], tiers: Self.tiers)
        let own = BrokerTopology(
            routes: [
                TopologyRoute(
                    name: "high", environment: .production, topics: ["com.h"], resultsQueue: "apns.q.results.team")
            ], tiers: Self.tiers)
        var broker = Self.broker(own)
        for step in others.compared(with: broker.live).plan(prunes: false) { broker.take(step) }
        broker.take(
            .bind(
                TopologyBinding(
                    source: "apns.results", queue: "apns.q.results.team", routingKey: "*.production.com.r")))
        #expect(own.compared(with: broker.live).plan(prunes: false) == [])
    }

    @Test("policies that earlier versions made for single queues go last, after the ones for all are there")
    func replaced() {
        var live = Self.broker(Self.before).live
        live.policies.removeAll { $0.name.contains("*") }
        for queue in ["apns.q.jobs.a", "apns.q.jobs.a.high", "apns.q.jobs.b.return"] {
            live.policies.append(
                .init(
                    name: queue, pattern: TopologyPolicy.pattern(matching: queue), scope: "queues", priority: 10,
                    settings: [:]))
        }
        live.policies.append(
            .init(name: "apns.q.jobs.b", pattern: "^apns.q.jobs.b", scope: "queues", priority: 50, settings: [:]))
        let plan = Self.before.compared(with: live).plan(prunes: false)
        let names = plan.map { step in
            switch step {
            case .set(let policy): "set \(policy.name)"
            case .clear(let policy): "clear \(policy)"
            default: "\(step)"
            }
        }
        #expect(
            names == [
                "set apns.q.jobs.*.return", "set apns.q.jobs.*", "clear apns.q.jobs.a", "clear apns.q.jobs.a.high",
                "clear apns.q.jobs.b.return",
            ])
    }

    @Test("the way back of tiers that exist changes after the exchange it leads to is there")
    func tierLast() {
        var live = Self.broker(Self.before).live
        live.exchanges.removeAll { $0.name.hasPrefix("apns.return") }
        for index in live.policies.indices where live.policies[index].name == "apns.q.retry.2s" {
            live.policies[index].settings["dead-letter-exchange"] = .text("apns.jobs")
        }
        let plan = Self.before.compared(with: live).plan(prunes: false)
        let tier = plan.firstIndex { if case .set(let policy) = $0 { policy.name == "apns.q.retry.2s" } else { false } }
        let exchange = plan.lastIndex { if case .declareExchange = $0 { true } else { false } }
        #expect((tier ?? 0) > (exchange ?? .max))
    }
}
