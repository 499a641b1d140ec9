import PushWorker
import Testing
import Topology

@testable import MartletCommands

@Suite("A status for programs", .timeLimit(.minutes(1)))
struct StatusJSONTests {
    @Test("Its names are fixed, for programs depend on them")
    func names() throws {
        let facts = StatusFixture.facts(reports: [
            StatusFixture.report("w-1") { $0.failures = [.init(outcome: "rejected", reason: "BadTopic", count: 2)] }
        ]) {
            $0.letters = [.init(queue: "apns.q.dead", outcome: "rejected", reason: "BadTopic", count: 1)]
            $0.queue("apns.q.dead") { $0.ready = 1 }
            $0.activity.queues.append(.init(name: "apns.q.retry.hold.6h", ready: 3, bytes: 700))
        }
        let text = facts.json(StatusDiagnosis(facts: facts).findings).bytes
        let json = try JSON(reading: text)
        #expect(
            names(of: json) == [
                "at", "broker", "queues", "workers", "workers_trouble", "routes", "control", "control_trouble",
                "held", "dead_letters", "failures", "findings",
            ])
        #expect(names(of: json["broker"]) == ["management", "virtual_host", "version", "nodes"])
        #expect(
            names(of: json["broker"]?["nodes"]?.elements.first) == [
                "name", "running", "memory_alarm", "disk_alarm", "memory_bytes", "memory_limit_bytes",
                "disk_free_bytes",
            ])
        #expect(
            names(of: json["queues"]?.elements.first) == [
                "name", "kind", "state", "leader", "members", "ready", "unacknowledged", "consumers", "bytes",
                "limit_bytes", "in_per_s", "out_per_s",
            ])
        #expect(
            names(of: json["workers"]?.elements.first) == [
                "instance", "version", "state", "reasons", "share", "admin", "started_at", "reported_at",
                "accepted", "accepted_per_s", "in_flight", "routes",
            ])
        #expect(
            names(of: json["routes"]?.elements.first) == [
                "name", "state", "reason", "limited_by", "workers", "not_ready_in", "accepted_per_s", "in_flight",
                "waiting", "connections", "holds_tokens",
            ])
        #expect(names(of: json["held"]?.elements.first) == ["queue", "count", "bytes", "limit_bytes"])
        let letters = try #require(json["dead_letters"]?.elements)
        #expect(names(of: letters.first) == ["queue", "count", "reasons"])
        for counts in [letters.first?["reasons"]?.elements, json["failures"]?.elements] {
            #expect(names(of: counts?.first) == ["outcome", "reason", "count"])
        }
        #expect(names(of: json["findings"]?.elements.first) == ["urgency", "object", "detail", "next"])
    }

    @Test("What is not known is null, and what is not there is empty")
    func nothing() throws {
        let facts = StatusFixture.facts(reports: []) {
            $0.activity = BrokerActivity()
            $0.fleetTrouble = "away"
        }
        let text = facts.json([]).description
        #expect(text.contains(#""nodes":null"#) && text.contains(#""workers":[],"workers_trouble":"away","routes":[]"#))
        #expect(text.hasSuffix(#""held":[],"dead_letters":[],"failures":[],"findings":[]}"#))
        let uncounted = StatusFixture.facts().json([]).description
        #expect(uncounted.contains(#"{"queue":"apns.q.dead","count":0,"reasons":null}"#))
    }

    private func names(of json: JSON?) -> [String] { (json?.members ?? []).map(\.0) }
}
