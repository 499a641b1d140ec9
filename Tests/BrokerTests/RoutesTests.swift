import APNSSimulator
import BrokerClient
import LocalStack
import PushWorker
import RabbitMQ
import Testing

@Suite("Routes beside each other", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct RoutesTests {
    private static let stack = Task(executorPreference: ThreadExecutor()) {
        try await BrokerStack.start(
            "routes",
            apps: [
                BrokerStack.App(route: "works", topic: "com.example.works"),
                BrokerStack.App(route: "missing", topic: "com.example.missing"),
                BrokerStack.App(route: "refused", topic: "com.example.refused", credential: "stranger"),
            ])
    }

    private let stack: BrokerStack

    init() async throws {
        stack = try await Self.stack.value
    }

    private func jobs(
        _ count: Int, of app: String, as prefix: String? = nil
    ) -> [(job: TestJob, correlation: String)] {
        let job = TestJob.raw(token: .text(Tokens.good)).keyed("development.normal.com.example.\(app)")
        return (0..<count).map { (job, "\(prefix ?? app) \($0)") }
    }

    @Test("A route whose queue is missing stops no other, and works as soon as the queue is there")
    func missingQueue() async throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let administrator = try stack.connect()
        defer { administrator.close() }
        try administrator.delete(queue: "apns.q.jobs.missing")
        let worker = try stack.startWorker()
        try client.publish(jobs(50, of: "works"))
        for job in 0..<50 { #expect(try client.result("works \(job)").result.outcome == "accepted") }
        let missing = try stack.route("missing", of: worker) { $0.reason?.contains("404") == true }
        #expect(missing.reason?.contains("apns.q.jobs.missing") == true)

        var arguments = FieldTable()
        arguments.entries = [FieldTable.Entry(name: Array("x-queue-type".utf8), value: .text("quorum"))]
        _ = try administrator.declareQueue("apns.q.jobs.missing", exclusive: false, arguments: arguments)
        try administrator.bind(
            queue: "apns.q.jobs.missing", exchange: "apns.jobs", routingKey: "development.normal.com.example.missing")
        try client.publish(jobs(5, of: "missing"))
        for job in 0..<5 { #expect(try client.result("missing \(job)").result.route == "missing") }
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("A refused credential parks its route: jobs wait, dead letters stay empty, other routes go on")
    func refusedCredential() async throws {
        let client = try JobClient(stack)
        defer { client.close() }
        let copies = try client.tap("apns.retry.4s")
        let worker = try stack.startWorker()
        try client.publish(jobs(200, of: "refused"))
        // The first copy shows that APNs has refused the key; whatever else happens, happens afterwards.
        let copy = try client.next("refused 0", from: copies)
        #expect(copy.number("x-apns-attempt") == 1, "no attempt is counted")
        try client.publish(jobs(50, of: "works", as: "beside"))
        for job in 0..<50 { #expect(try client.result("beside \(job)").result.outcome == "accepted") }
        _ = try stack.route("refused", of: worker) { $0.state == "parked" || $0.state == "probing" }

        // A job on its way from one queue to the next may be seen in both of them, or in none.
        let sums = try (0..<5).map { _ in try waiting() }
        #expect(sums.contains(200), "\(sums)")
        try client.expectNothing(in: "apns.q.dead")
        try client.expectNothing(in: "apns.q.results")
        let statuses = Set(stack.simulator.ledger.counts.map(\.status))
        #expect(statuses.isSubset(of: [200, 403]))
        let refusals = stack.simulator.ledger.counts.filter { $0.status == 403 }.reduce(0) { $0 + $1.count }
        #expect(refusals < 10, "one job probes at a time")
        try await worker.stop()
        try purge(["apns.q.jobs.refused", "apns.q.jobs.refused.return", "apns.q.retry.2s", "apns.q.retry.4s"])
    }

    /// How many jobs of the refused route the broker keeps.
    private func waiting() throws -> Int {
        try stack.broker.queueCounts(virtualHost: stack.virtualHost)
            .filter { $0.key.hasPrefix("apns.q.jobs.refused") || $0.key.hasPrefix("apns.q.retry.") }
            .reduce(0) { $0 + $1.value.total }
    }

    private func purge(_ queues: [String]) throws {
        let administrator = try stack.connect()
        defer { administrator.close() }
        for queue in queues { try administrator.purge(queue: queue) }
    }
}
