import Testing

@testable import Topology

@Suite("Queues without a consumer", .timeLimit(.minutes(1)))
struct QueuesWithoutConsumerTests {
    @Test(
        "A key is matched as a topic exchange does",
        arguments: [
            ("a.b", "a.b", true), ("a.b", "a.c", false), ("a.*", "a.b", true), ("a.*", "a", false),
            ("a.*", "a.b.c", false), ("*.b", "a.b", true), ("#", "a.b.c", true), ("#", "", true), ("a.#", "a", true),
            ("a.#", "a.b.c", true), ("a.#.d", "a.b.c.d", true), ("a.#.d", "a.b.c", false), ("#.#.#", "a", true),
            ("", "", true), ("", "a", false), ("production.*.com.a", "production.high.com.a", true),
            ("production.*.com.a", "production.high.com.a.voip", false),
        ])
    func topic(_ pattern: String, _ key: String, _ isMatch: Bool) {
        #expect(LiveTopology.topic(pattern, matches: key) == isMatch)
    }

    @Test("Only queues count that the exchange leads one of the keys to, and whose consumers are known to be none")
    func queues() {
        func binding(_ source: String, _ queue: String, _ key: String, isToQueue: Bool = true) -> LiveTopology.Binding {
            LiveTopology.Binding(
                source: source, destination: queue, isToQueue: isToQueue, routingKey: key, propertiesKey: key)
        }
        let live = LiveTopology(bindings: [
            binding("apns.jobs", "idle", "a.*"), binding("apns.jobs", "busy", "a.*"),
            binding("apns.jobs", "uncounted", "a.*"), binding("apns.jobs", "other", "b.*"),
            binding("apns.results", "results", "a.*"), binding("apns.jobs", "exchange", "a.*", isToQueue: false),
            binding("apns.jobs", "idle", "a.x"),
        ])
        let counts: [(String, Int?)] = [
            ("idle", 0), ("busy", 1), ("uncounted", nil), ("other", 0), ("results", 0), ("exchange", 0),
        ]
        let queues = counts.map { BrokerActivity.Queue(name: $0.0, consumers: $0.1) }
        #expect(live.queuesWithoutConsumer(of: "apns.jobs", keys: ["a.x"], among: queues) == ["idle"])
        #expect(live.queuesWithoutConsumer(of: "apns.jobs", keys: ["a.x", "b.y"], among: queues) == ["idle", "other"])
        #expect(live.queuesWithoutConsumer(of: "apns.jobs", keys: [], among: queues) == [])
    }
}
