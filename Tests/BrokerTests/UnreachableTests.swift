import LocalStack
import PushWorker
import RabbitMQ
import Testing

@Suite("What cannot be reached", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct UnreachableTests {
    @Test("A dead APNs stops its route only: its jobs wait in their queue, and the route beside it works")
    func deadAPNs() async throws {
        let port = try FreePort.several(1)[0]
        let stack = try await BrokerStack.start(
            "unreachable",
            apps: [
                BrokerStack.App(route: "works", topic: "com.example.works"),
                BrokerStack.App(route: "dead", topic: "com.example.dead", environment: "production"),
            ], production: "https://localhost:\(port)")
        let client = try JobClient(stack)
        defer { client.close() }
        let dead = TestJob.raw(token: .text(Tokens.good)).keyed("production.normal.com.example.dead")
        let works = TestJob.raw(token: .text(Tokens.good)).keyed("development.normal.com.example.works")
        try client.publish((0..<50).map { (dead, "dead \($0)") })
        let worker = try stack.startWorker()
        let state = try stack.route("dead", of: worker) { route in
            route.state == "unreachable" && route.reason?.contains("Connection refused") == true
        }
        #expect(state.reason?.contains(":\(port)") == true, "\(state.reason ?? "")")
        #expect(state.connections == 0)
        try client.publish((0..<50).map { (works, "works \($0)") })
        for job in 0..<50 { #expect(try client.result("works \(job)").result.outcome == "accepted") }
        let beside = try stack.route("works", of: worker) { $0.state == "ready" && $0.connections > 0 }
        #expect(beside.connections == 1 && beside.reason == nil)
        _ = try stack.readiness(of: worker) { $0.isReady }
        // In its queue, or in a tier after a look for what has expired.
        while try stack.waitingJobs(of: "dead", { $0.ready }) != 50 { try Task.checkCancellation() }
        #expect(try stack.broker.queueCounts(virtualHost: stack.virtualHost)["apns.q.jobs.works"]?.total == 0)
        for queue in ["apns.q.results", "apns.q.dead"] { try client.expectNothing(in: queue) }
        try await worker.stop()
    }

    @Test("A worker that starts before its broker says what it cannot reach, stays, and works once the broker is there")
    func missingBroker() async throws {
        let broker = try PrivateBroker.start()
        defer { broker.stop() }
        let stack = try await BrokerStack.start("late", ownBroker: broker)
        broker.crash()
        let worker = try stack.startWorker()
        let refused = try stack.readiness(of: worker) { readiness in
            readiness.reasons.contains { $0.contains("Connection refused") }
        }
        #expect(!refused.isReady)
        #expect(refused.reasons.contains { $0.contains("127.0.0.1:\(broker.port)") }, "\(refused.reasons)")
        #expect(worker.worker.progress().map { $0.sinceLastTurn < .seconds(30) } == true, "its lane turns")
        try broker.restart()
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publishGoodJob(as: "late")
        #expect(try client.result("late").result.outcome == "accepted")
        _ = try stack.readiness(of: worker) { $0.isReady }
        try await worker.stop()
    }
}
