import APNSSimulator
import BrokerClient
import RabbitMQ
import Testing

@Suite("High jobs beside a backlog", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct HighTests {
    @Test("A high job goes before hundreds of normal ones that wait for the route's rate, in worker and broker")
    func goesFirst() async throws {
        let app = BrokerStack.App(route: "app", topic: "com.example.app", rate: 20, highLane: true)
        let stack = try await BrokerStack.start("high", apps: [app])
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publish(
            (0..<1_500).map { (job: TestJob.raw(token: .text(Tokens.good)), correlation: "normal \($0)") })
        let worker = try stack.startWorker()
        _ = try client.result("normal 0")
        let urgent = String(repeating: "0fab", count: 16)
        let before = stack.simulator.ledger.records().count
        try client.publish(
            TestJob.raw(token: .text(urgent)).keyed("development.high.com.example.app"), as: "urgent")
        #expect(try client.result("urgent").result.outcome == "accepted")
        let position = try #require(stack.simulator.ledger.records().firstIndex { $0.token == urgent })
        // What the rate lets through while a slow machine hands the job on: five seconds, where a minute was waiting.
        #expect(position - before < 100)
        #expect(stack.simulator.ledger.records().count < 1_000)
        try await worker.stop()
    }
}
