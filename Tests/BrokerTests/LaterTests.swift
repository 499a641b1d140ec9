import APNSSimulator
import BrokerClient
import LocalStack
import RabbitMQ
import Rig
import Testing

@Suite("Jobs that are to be sent later", .serialized, .ownThread, .timeLimit(.minutes(4)))
struct LaterTests {
    /// How much later than its time a job may come on a busy machine, in milliseconds. The tiers add a second at most.
    private static let slack: Int64 = 15_000

    /// A job for some devices, with more fields.
    private static func job(_ tokens: [String], _ fields: String) -> TestJob {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return .enveloped(#"{"device_tokens":[\#(list)],\#(fields),"payload":{"aps":{"alert":"SECRET"}}}"#)
    }

    private static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "b", count: 64 - digits.count) + digits
    }

    @Test("They come in their time, and one that is due meanwhile does not wait for them")
    func inTime() async throws {
        let stack = try await BrokerStack.start("later", tiers: [1_000, 3_000])
        let client = try JobClient(stack)
        defer { client.close() }
        let copies = try client.tap("apns.retry.hold.3s")
        let worker = try stack.startWorker()
        // The times count from when the worker takes jobs.
        try client.publishGoodJob(as: "first")
        #expect(try client.result("first").result.outcome == "accepted")
        let time = JobIdentifier.now() + 10_000
        let tokens = (0..<3).map(Self.token)
        try client.publish(Self.job(tokens, #""not_before":\#(time)"#), as: "many")
        let header: (String, FieldValue) = ("x-apns-not-before", .integer(time))
        let enqueued: (String, FieldValue) = ("x-apns-enqueued-at", .integer(time - 10_000))
        try client.publish(
            .raw(token: .text(Self.token(9)), headers: [header, enqueued, ("apns-expiration", .integer(0))]), as: "one")
        try client.publishGoodJob(as: "now")
        #expect(try client.result("now").result.outcome == "accepted")
        #expect(stack.simulator.ledger.records().count == 2)

        let copy = try client.next("many", from: copies)
        #expect(copy.number("x-apns-attempt") == 1 && copy.number("x-apns-not-before") == time)
        #expect(copy.number("x-apns-first-attempt-at") == nil && copy.text("x-apns-indexes") == nil)
        let results = try (0..<3).map { _ in try client.result("many").result } + [try client.result("one").result]
        #expect(results.allSatisfy { $0.outcome == "accepted" && $0.attempt == 1 && !$0.redelivered })
        for token in tokens + [Self.token(9)] {
            let pushes = stack.simulator.ledger.records(token: token)
            #expect(pushes.count == 1)
            for push in pushes { #expect((time..<(time + Self.slack)).contains(push.time), "\(push.time - time) ms") }
        }
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }

    @Test("A deadline that passes while a job waits makes it expired")
    func expired() async throws {
        let stack = try await BrokerStack.start("later-expired", tiers: [4_000])
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let time = JobIdentifier.now() + 3_000
        try client.publish(Self.job([Self.token(1)], #""not_before":\#(time),"deadline":\#(time + 100)"#), as: "late")
        let result = try client.result("late").result
        #expect(result.outcome == "expired" && result.reason == "DeadlinePassed" && result.attempt == 1)
        #expect(stack.simulator.ledger.records().isEmpty)
        try await worker.stop()
    }

    @Test("A thousand that are due at one moment leave at their route's rate")
    func many() async throws {
        let rate = 400
        let stack = try await BrokerStack.start(
            "later-many", apps: [BrokerStack.App(route: "app", topic: "com.example.app", rate: rate)],
            tiers: [1_000, 3_000])
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let time = JobIdentifier.now() + 6_000
        try client.publish(
            (0..<1_000).map { (Self.job([Self.token($0)], #""not_before":\#(time)"#), "job-\($0)") })
        for number in 0..<1_000 { #expect(try client.result("job-\(number)").result.outcome == "accepted") }
        let times = stack.simulator.ledger.records().map(\.time).sorted()
        #expect(times.count == 1_000)
        let first = try #require(times.first)
        #expect(first >= time)
        // Whatever second is looked at, at most a second's worth and what the limit saves up for.
        var start = 0
        for (index, moment) in times.enumerated() {
            while times[start] <= moment - 1_000 { start += 1 }
            #expect(index - start < 2 * rate)
        }
        #expect((times.last ?? 0) - first >= 1_000)
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }

    @Test("Where the broker has no holding tiers, they wait in the longest retry tier, and nothing else is disturbed")
    func oldTopology() async throws {
        let stack = try await BrokerStack.start("later-old", tiers: [2_000, 20_000])
        let administrator = try stack.connect()
        defer { administrator.close() }
        for tier in ["hold.2s", "hold.20s", "hold.1h", "hold.6h"] {
            let name = #"rabbit_misc:r(<<"later-old">>, exchange, <<"apns.retry.\#(tier)">>)"#
            _ = try stack.broker.evaluate(#"ok = rabbit_exchange:delete(\#(name), false, <<"test">>)."#)
        }
        let client = try JobClient(stack)
        defer { client.close() }
        let copies = try client.tap("apns.retry.20s")
        let worker = try stack.startWorker()
        let now = JobIdentifier.now()
        for (id, hours) in [("day", 24), ("hours", 2), ("day-again", 24)] as [(String, Int64)] {
            try client.publish(Self.job([Self.token(1)], #""not_before":\#(now + hours * 3_600_000)"#), as: id)
        }
        for id in ["day", "hours", "day-again"] {
            let copy = try client.next(id, from: copies)
            #expect(copy.number("x-apns-attempt") == 1)
            #expect(copy.number("x-apns-not-before") ?? 0 > now + 3_600_000)
        }
        try client.publishGoodJob(as: "now")
        #expect(try client.result("now").result.outcome == "accepted")
        try await worker.stop()
        // After the wait this is another thread, to which the connections of before do not belong.
        let purger = try stack.connect()
        defer { purger.close() }
        try purger.purge(queue: "apns.q.retry.20s")
        #expect(try stack.leftovers() == [:])
    }
}
