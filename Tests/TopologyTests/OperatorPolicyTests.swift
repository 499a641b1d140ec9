import Testing

@testable import Topology

@Suite("Operator policies over the contract", .timeLimit(.minutes(1)))
struct OperatorPolicyTests {
    private static func policy(
        _ name: String, _ pattern: String, in scope: String = "queues", priority: Int = 0,
        _ settings: [String: TopologyValue]
    ) -> LiveTopology.Policy {
        .init(name: name, pattern: pattern, scope: scope, priority: priority, settings: settings)
    }

    /// Operator policies, and what they change: names, queues, and settings.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var policies: [LiveTopology.Policy]
        var effects: [String]
        /// What the broker reports of each queue.
        var reported: String?
    }

    static let cases: [Case] = [
        Case(
            testDescription: "a TTL, which no stream can have",
            policies: [policy("ops", ".*", ["message-ttl": .integer(5_000)])],
            effects: ["ops: 14 queues from apns.q.dead to apns.q.retry.hold.1m: message-ttl 5000"]),
        Case(
            testDescription: "a TTL of some queues, longer than theirs",
            policies: [policy("ops", #"^apns\.q\.(retry|dead)"#, ["message-ttl": .integer(4_000_000_000)])],
            effects: []),
        Case(
            testDescription: "a limit below the job queues', and far above the tiers' none",
            policies: [policy("ops", "jobs.shop$|1m$", ["delivery-limit": .integer(5), "max-length": .integer(9)])],
            effects: ["ops: 3 queues from apns.q.jobs.shop to apns.q.retry.hold.1m: delivery-limit 5, max-length 9"]),
        Case(
            testDescription: "the same limit as the policy's",
            policies: [
                policy("ops", "jobs.shop$", ["delivery-limit": .integer(50)])
            ], effects: []),
        Case(
            testDescription: "of two, the one with the higher priority",
            policies: [
                policy("low", ".*", ["expires": .integer(1)]),
                policy("high", "dead", priority: 1, ["expires": .integer(2)]),
            ],
            effects: [
                "high: 3 queues from apns.q.dead to apns.q.dead.tokens: expires 2",
                "low: 12 queues from apns.q.jobs.beta to apns.q.retry.hold.1m: expires 1",
            ]),
        Case(
            testDescription: "other kinds of queues, and queues of others",
            policies: [
                policy("a", ".*", in: "classic_queues", ["expires": .integer(1)]),
                policy("b", "^orders$", ["expires": .integer(1)]), policy("c", ".*", ["ha-mode": .text("all")]),
            ], effects: []),
        Case(
            testDescription: "a pattern for which a matcher that goes back needs years",
            policies: [
                policy("slow", "^(([a-z0-9.]+)+[!-])+$", ["expires": .integer(1)])
            ], effects: []),
        Case(
            testDescription: "a pattern that only the broker can read",
            policies: [
                policy("odd", "(?<n", ["expires": .integer(1)])
            ], effects: []),
        Case(
            testDescription: "the same, once the broker reports it",
            policies: [
                policy("odd", "(?<n", ["expires": .integer(1)])
            ], effects: ["odd: 17 queues from apns.q.control to apns.q.retry.hold.1m: expires 1"], reported: "odd"),
    ]

    @Test("What they change is named, by patterns where the broker does not report it", arguments: cases)
    func effects(_ row: Case) {
        var live = TopologyDriftTests.live()
        live.operatorPolicies = row.policies
        live.queues.append(.init(name: "orders", kind: "quorum"))
        for index in live.queues.indices {
            live.queues[index].operatorPolicy = row.reported
            // As in the first seconds of a queue.
            live.queues[index].policy = nil
        }
        let effects = live.operatorPolicyEffects.map { effect in
            let changes = effect.changes.map { "\($0.key) \($0.value.words)" }.joined(separator: ", ")
            return "\(effect.policy): \(effect.queues.count) queues from \(effect.queues.first ?? "") to "
                + "\(effect.queues.last ?? ""): \(changes)"
        }
        #expect(effects == row.effects)
    }

    @Test("A check names the policy, what it breaks, that apply cannot change it, and the command that can")
    func drift() throws {
        var live = TopologyDriftTests.live()
        live.operatorPolicies = [Self.policy("ops", "dead$", ["message-ttl": .integer(5_000), "expires": .integer(9)])]
        let rows = BrokerTopologyTests.topology.compared(with: live).drift
        let row = try #require(rows.first)
        #expect(rows.count == 1 && row.kind == .foreign && row.object == "operator policy ops")
        #expect(row.detail.hasPrefix("sets on apns.q.dead: expires 9, so that queues without a reader are deleted"))
        #expect(row.detail.contains("message-ttl 5000, so that jobs expire") && row.detail.contains("apply cannot"))
        let admin = AdminCommands(ManagementPlace(host: "h", port: 1, user: "u"), virtualHost: "my apps")
        #expect(admin.one(row.remedies) == "rabbitmqctl clear_operator_policy -p 'my apps' ops")
        #expect(admin.two(row.remedies) == admin.one(row.remedies))
        #expect(TopologyDrift.summary(of: rows) == "1 difference: 1 operator policy foreign")
        #expect(BrokerTopologyTests.topology.compared(with: live).plan(prunes: true).isEmpty)
    }
}
