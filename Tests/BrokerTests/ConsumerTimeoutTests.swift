import APNSSimulator
import BrokerClient
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Testing

/// RabbitMQ loses its patience with deliveries that are not acknowledged (`consumer_timeout`). Before 4.3 it closes the
/// channel. From 4.3 on it cancels the consumer, which still exists afterwards.
@Suite("A consumer that exceeds the broker's patience", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct ConsumerTimeoutTests {
    private static let jobs = 20
    /// How often the broker's patience ends in this test.
    private static let rounds = 3

    /// A broker whose patience is short.
    private static func impatient() throws -> PrivateBroker {
        let broker = try PrivateBroker.start()
        try broker.evaluate("application:set_env(rabbit, consumer_timeout, 4000).")
        try broker.evaluate("application:set_env(rabbit, channel_tick_interval, 500).")
        return broker
    }

    /// How many consumers the route's queue has.
    private static func consumers(_ stack: BrokerStack) throws -> Int {
        try stack.broker.control(["list_consumers", "-p", stack.virtualHost, "--no-table-headers", "queue_name"])
            .split(separator: "\n").count { $0 == "apns.q.jobs.app" }
    }

    @Test("Its queue has one consumer, no job is pushed more than twice, and a paused worker is handed none")
    func keepsOneConsumer() async throws {
        let broker = try Self.impatient()
        defer { broker.stop() }
        let stack = try await BrokerStack.start(
            "patience", requestTimeout: "10m", ownBroker: broker, settings: "shutdown: { grace: 2s }")
        let (client, operators) = (try JobClient(stack), try stack.connect())
        defer {
            client.close()
            operators.close()
        }
        try operators.declareControlStream()
        let worker = try stack.startWorker()
        // With answers, so that the worker wants many jobs at a time.
        let good = TestJob.raw(token: .text(Tokens.good))
        try client.publish((0..<Self.jobs).map { (job: good, correlation: "first \($0)") })
        for number in 0..<Self.jobs { _ = try client.result("first \(number)") }
        for number in 0..<Self.jobs {
            let token = "0ff00000" + String(repeating: "0", count: 52) + "\(1000 + number)"
            try client.publish(TestJob.raw(token: .text(Array(token.utf8))), as: "mute \(number)")
        }
        try stack.awaitPushes(Self.jobs, to: "0ff00000")
        for _ in 0..<Self.rounds {
            _ = try stack.route("app", of: worker) { $0.state == "starting" }
            _ = try stack.route("app", of: worker) { $0.state == "ready" }
            #expect(try Self.consumers(stack) == 1)
        }
        let pushes = Dictionary(
            grouping: stack.simulator.ledger.records().filter { $0.token.hasPrefix("0ff00000") }, by: \.token)
        #expect(pushes.count == Self.jobs && pushes.values.allSatisfy { $0.count <= 2 })
        let pause = ControlCommand(
            id: "pause", action: .pause, target: .route("app"), author: "anna", issuedAt: 1_700_000_000_000)
        try operators.publishCommand(pause.json)
        _ = try stack.route("app", of: worker) { $0.state == "paused" }
        try client.publish((0..<Self.jobs).map { (job: good, correlation: "second \($0)") })
        #expect(try stack.waitingJobs(of: "app", \.ready) >= Self.jobs)
        #expect(try Self.consumers(stack) == 0)
        try await worker.stop()
    }
}
