import BrokerClient
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Testing
import Topology
import WorkerSettings

@Suite("Jobs that come back from tiers", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct ReturnTests {
    private static let stack = Task(executorPreference: ThreadExecutor()) {
        try await BrokerStack.start(
            "returns",
            apps: [
                BrokerStack.App(route: "full", topic: "com.example.full"),
                BrokerStack.App(route: "works", topic: "com.example.works"),
            ])
    }

    private let stack: BrokerStack

    init() async throws {
        stack = try await Self.stack.value
    }

    /// Copies that wait in the first tier.
    private func copies(_ count: Int, of app: String, as prefix: String? = nil) -> [(job: TestJob, correlation: String)]
    {
        let job = TestJob.raw(token: .text(Tokens.good))
            .keyed("development.normal.com.example.\(app)", exchange: "apns.retry.2s")
        return (0..<count).map { (job, "\(prefix ?? app) \($0)") }
    }

    private func policy(_ name: String, of queue: String, _ definition: String) throws {
        try stack.broker.control([
            "set_policy", "-p", stack.virtualHost, "--priority", "20", "--apply-to", "queues", name, queue, definition,
        ])
    }

    private func clear(_ name: String) throws {
        try stack.broker.control(["clear_policy", "-p", stack.virtualHost, name])
    }

    /// Fills the job queue of the one route until it refuses.
    private func fill(_ client: JobClient) throws {
        try policy("full", of: #"^apns\.q\.jobs\.full$"#, #"{"max-length":1,"overflow":"reject-publish"}"#)
        var isRefused = false
        for number in 0..<100 where !isRefused {
            do { try client.publishGoodJob(as: "filling \(number)", topic: "com.example.full") } catch {
                isRefused = true
            }
        }
        #expect(isRefused)
    }

    private func awaitReady(_ queue: String, _ count: Int) throws {
        let client = try stack.connect()
        defer { client.close() }
        let deadline = ContinuousClock.now.advanced(by: JobClient.patience)
        while try client.depth(of: queue).messages < count {
            guard ContinuousClock.now < deadline else { throw RingFailure("\(queue) did not get \(count) messages") }
            _ = try stack.broker.queueCounts(virtualHost: stack.virtualHost)
        }
    }

    @Test("A job queue that is full keeps back what comes back neither for its own route nor for others")
    func fullJobQueue() async throws {
        let client = try JobClient(stack)
        defer { client.close() }
        try fill(client)
        // More than the broker holds at a time of what it could not put back.
        try client.publish(copies(40, of: "full"))
        try client.publish(copies(5, of: "works"))
        try awaitReady("apns.q.jobs.works.return", 5)
        try awaitReady("apns.q.jobs.full.return", 40)
        try clear("full")
        let worker = try stack.startWorker()
        for number in 0..<5 { #expect(try client.result("works \(number)").result.outcome == "accepted") }
        for number in 0..<40 { #expect(try client.result("full \(number)").result.outcome == "accepted") }
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("What waits in a tier of an earlier topology comes back after the new one is applied")
    func upgrade() async throws {
        let client = try JobClient(stack)
        defer { client.close() }
        // The policy has to be gone before the new copies are due, also on a busy machine.
        try policy(
            "earlier", of: #"^apns\.q\.retry\.2s$"#,
            #"{"message-ttl":8000,"dead-letter-exchange":"apns.jobs","dead-letter-strategy":"at-least-once","#
                + #""overflow":"reject-publish"}"#)
        try client.publish(copies(3, of: "works", as: "old"))
        try awaitReady("apns.q.jobs.works", 3)
        try client.publish(copies(3, of: "works", as: "new"))
        try clear("earlier")
        try awaitReady("apns.q.jobs.works.return", 3)
        let worker = try stack.startWorker()
        for prefix in ["old", "new"] {
            for number in 0..<3 { #expect(try client.result("\(prefix) \(number)").result.outcome == "accepted") }
        }
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("A worker serves its route where the broker has an earlier topology, and says what is missing")
    func missingReturnQueue() async throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let administrator = try stack.connect()
        defer { administrator.close() }
        try administrator.delete(queue: "apns.q.jobs.works.return")
        let worker = try stack.startWorker()
        try client.publishGoodJob(as: "early", topic: "com.example.works")
        #expect(try client.result("early").result.outcome == "accepted")
        // Each look for the queue costs the route its channel for a moment, and the state says that, too.
        _ = try stack.route("works", of: worker) {
            $0.state == "ready" && $0.reason?.contains("topology apply") == true
        }
        try await worker.stop()
        let topology = stack.configuration.topology(virtualHost: stack.virtualHost)
        try stack.broker.importDefinitions(json: Array(topology.definitions().utf8))
    }
}
