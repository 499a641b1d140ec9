import Testing

@testable import Topology

@Suite("Tiers that keep their copies", .timeLimit(.minutes(1)))
struct KeepingTierTests {
    /// The steps to the fixture's topology, in words.
    private func steps(_ live: LiveTopology) -> [String] {
        BrokerTopologyTests.topology.compared(with: live).plan(prunes: false).map { step in
            switch step {
            case .set(let policy): "set \(policy.name)\(policy.priority == 13 ? " at 13" : "")"
            case .release(let tier): "release \(tier)"
            default: "\(step)"
            }
        }
    }

    /// A broker whose tier of 2 s has lost its policy, and has the policy of somebody else, as RabbitMQ reports it.
    private static func ruled(by other: LiveTopology.Policy?, reported: String?) -> LiveTopology {
        var live = TopologyDriftTests.live()
        live.policies.removeAll { $0.name == "apns.q.retry.2s" }
        if let other { live.policies.append(other) }
        for index in live.queues.indices where live.queues[index].name == "apns.q.retry.2s" {
            live.queues[index].policy = reported
            live.queues[index].messages = 10
        }
        return live
    }

    private static func others(priority: Int, _ pattern: String = #"^apns\.q\.retry\.2s$"#) -> LiveTopology.Policy {
        .init(
            name: "others", pattern: pattern, scope: "queues", priority: priority,
            settings: ["max-length": .integer(100_000)])
    }

    @Test(
        "copies are led back only once nobody's policy would win over the tier's own, whatever RabbitMQ still reports",
        arguments: [nil, "apns.q.retry.2s", "others", "gone"] as [String?])
    func rivals(reported: String?) {
        // Led back under another policy, they would be lost.
        #expect(steps(Self.ruled(by: Self.others(priority: 99), reported: reported)) == [])
        #expect(steps(Self.ruled(by: Self.others(priority: 10), reported: reported)) == [])
        let mend = ["set apns.q.retry.2s at 13", "release apns.q.retry.2s", "set apns.q.retry.2s"]
        #expect(steps(Self.ruled(by: Self.others(priority: 9), reported: reported)) == mend)
        #expect(steps(Self.ruled(by: Self.others(priority: 99, "^other"), reported: reported)) == mend)
        #expect(steps(Self.ruled(by: nil, reported: reported)) == mend)
        // A pattern that is not read here: what RabbitMQ reports decides.
        let unread = Self.others(priority: 99, "^(?!apns)")
        #expect(steps(Self.ruled(by: unread, reported: reported)) == (reported == "others" ? [] : mend))
    }

    @Test("the rival of a tier's policy is named with both commands, and the copies stay known until they are led back")
    func rivalFirst() throws {
        let row = try #require(
            BrokerTopologyTests.topology.compared(with: Self.ruled(by: Self.others(priority: 99), reported: "others"))
                .keepingTierDrift.first)
        #expect(row.detail.hasSuffix("10 wait in it; policy others has to go first"))
        #expect(row.remedies == [.clear(policy: "others"), .apply])
        // Beside a policy of the tier's own the first apply notes that copies wait.
        var live = TopologyDriftTests.live()
        live.policies.append(Self.others(priority: 99))
        #expect(steps(live) == ["set apns.q.retry.2s at 13"])
        // Also where that policy is an earlier one with another wait.
        for index in live.policies.indices where live.policies[index].name == "apns.q.retry.2s" {
            live.policies[index].settings["message-ttl"] = .integer(3_000)
        }
        #expect(steps(live) == ["set apns.q.retry.2s at 13"])
        // An apply that was interrupted after its first step, or whose rival has gone.
        live = TopologyDriftTests.live()
        for index in live.policies.indices where live.policies[index].name == "apns.q.retry.2s" {
            live.policies[index].priority = 13
        }
        #expect(BrokerTopologyTests.topology.compared(with: live).keepingTierDrift.map(\.remedies) == [[.apply]])
        #expect(
            steps(live) == ["set apns.q.retry.2s at 13", "release apns.q.retry.2s", "set apns.q.retry.2s"])
    }

    @Test("a tier that keeps its copies is told apart from other differences, and one declared with a TTL does not")
    func keepingTiers() {
        let topology = BrokerTopologyTests.topology
        var live = TopologyDriftTests.live()
        live.policies.removeAll { $0.name == "apns.q.retry.2s" || $0.name == "apns.q.results" }
        for index in live.queues.indices where live.queues[index].name == "apns.q.retry.2s" {
            live.queues[index].policy = nil
        }
        #expect(topology.compared(with: live).keepingTierDrift.map(\.object) == ["policy apns.q.retry.2s"])
        #expect(
            steps(live) == [
                "set apns.q.results", "set apns.q.retry.2s at 13", "release apns.q.retry.2s", "set apns.q.retry.2s",
            ])
        #expect(topology.compared(with: TopologyDriftTests.live()).keepingTierDrift == [])
        for index in live.queues.indices where live.queues[index].name == "apns.q.retry.2s" {
            live.queues[index].arguments = ["x-dead-letter-exchange", "x-message-ttl"]
        }
        #expect(topology.compared(with: live).keepingTierDrift == [])
        #expect(topology.compared(with: LiveTopology()).keepingTierDrift == [])
    }
}
