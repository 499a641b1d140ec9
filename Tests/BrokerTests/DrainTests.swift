import APNSSimulator
import LocalStack
import PushWorker
import Testing

@Suite("Workers that leave in the middle of a job", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct DrainTests {
    /// How many device tokens the job has: far more than its worker has time for.
    private static let tokens = 300

    private static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "a", count: 64 - digits.count) + digits
    }

    @Test("The rest of a multicast job that was begun goes to another worker, and no device is pushed to twice")
    func multicast() async throws {
        let stack = try await BrokerStack.start(
            "drain-multicast", apps: [BrokerStack.App(route: "app", topic: "com.example.app", rate: 40)],
            settings: "shutdown: { grace: 4s }")
        let publishing = try JobClient(stack)
        let list = (0..<Self.tokens).map { "\"\(Self.token($0))\"" }.joined(separator: ",")
        try publishing.publish(
            .enveloped(#"{"device_tokens":[\#(list)],"payload":{"aps":{"alert":"SECRET"}}}"#), as: "many")
        publishing.close()
        let first = try stack.startWorker()
        try stack.awaitPushes(1)
        try await first.stop()
        #expect(stack.simulator.ledger.records().count < Self.tokens, "the worker left before it was through")

        let client = try JobClient(stack)
        defer { client.close() }
        let second = try stack.startWorker()
        let results = try (0..<Self.tokens).map { _ in try client.result("many").result }
        #expect(results.allSatisfy { $0.outcome == "accepted" && $0.attempt == 1 })
        #expect(Set(results.map(\.index)).count == Self.tokens)
        #expect(try stack.leftovers() == [:])
        #expect(stack.simulator.ledger.records().count == Self.tokens)
        try await second.stop()
    }
}
