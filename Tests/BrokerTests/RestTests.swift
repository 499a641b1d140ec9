import APNSSimulator
import BrokerClient
import LocalStack
import PushWorker
import RabbitMQ
import Testing

@Suite("Device tokens that rest", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct RestTests {
    @Test("After TooManyRequests other jobs for the token wait in a tier, their attempt unchanged; other tokens do not")
    func tooManyRequests() async throws {
        // Both delays are far longer than the test needs, so that nothing comes back while it looks.
        let stack = try await BrokerStack.start("rest", tiers: [20_000, 40_000])
        let client = try JobClient(stack)
        defer { client.close() }
        let copies = try client.tap("apns.retry.20s")
        let worker = try stack.startWorker()
        // Reason 0 of status 429 is TooManyRequests, see the simulator's prefixes.
        let tired = "bad00429" + String(repeating: "0", count: 56)
        try client.publish(.raw(token: .text(tired)), as: "first")
        #expect(try client.next("first", from: copies).number("x-apns-attempt") == 2)

        try client.publish([
            (.raw(token: .text(tired.uppercased())), "second"),
            (
                .enveloped(
                    #"{"device_tokens":["\#(tired)","\#(String(decoding: Tokens.good, as: UTF8.self))"],"#
                        + #""payload":{"aps":{"alert":"SECRET"}}}"#), "both"
            ),
            (.raw(token: .text(String(decoding: Tokens.good, as: UTF8.self))), "other"),
        ])
        #expect(try client.result("other").result.outcome == "accepted")
        #expect(try client.result("both").result.outcome == "accepted")
        let second = try client.next("second", from: copies)
        #expect(second.number("x-apns-attempt") == 1)
        #expect(second.number("x-apns-first-attempt-at") == nil, "it was not attempted")
        let both = try client.next("both", from: copies)
        #expect(both.number("x-apns-attempt") == 1)
        #expect(both.text("x-apns-indexes") == "0")
        #expect(stack.simulator.ledger.records(token: tired).count == 1, "only the first was pushed")

        // What no tier may hold is sent now or never.
        try client.publish(.raw(token: .text(tired), headers: [("apns-expiration", .text(Array("0".utf8)))]), as: "now")
        let now = try client.result("now").result
        #expect(now.outcome == "exhausted")
        #expect(now.reason == "TooManyRequests")
        #expect(stack.simulator.ledger.records(token: tired).count == 2)

        try await worker.stop()
        let counters = worker.worker.snapshot().routes.first ?? nil
        #expect(counters?.cooled == 2 && counters?.coolingTokens == 1)
        let administrator = try stack.connect()
        defer { administrator.close() }
        for queue in ["apns.q.retry.20s", "apns.q.retry.40s"] { try administrator.purge(queue: queue) }
    }
}
