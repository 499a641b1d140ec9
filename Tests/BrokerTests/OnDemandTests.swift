import APNSSimulator
import LocalStack
import PushWorker
import RabbitMQ
import Testing
import WorkerSettings

/// Routes that have jobs, and routes that have none.
@Suite("Connections to APNs on demand", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct OnDemandTests {
    @Test("A route without jobs is ready and opens no connection; its first job opens one, and is pushed")
    func firstJob() async throws {
        let stack = try await BrokerStack.start(
            "on-demand",
            apps: ["busy", "idle", "other"].map { BrokerStack.App(route: $0, topic: "com.example.\($0)") })
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        func push(_ name: String, to app: String) throws {
            try client.publishGoodJob(as: name, topic: "com.example.\(app)")
            #expect(try client.result(name).result.outcome == "accepted")
        }
        // Ready means that all queues are consumed, which no connection is needed for.
        _ = try stack.readiness(of: worker) { $0.isReady && $0.routes.allSatisfy { $0.state == "ready" } }
        #expect(stack.simulator.counters.connectionsAccepted == 0)
        for round in 0..<20 { try push("busy \(round)", to: "busy") }
        #expect(stack.simulator.counters.connectionsAccepted == 1)
        let idle = try stack.route("idle", of: worker) { $0.state == "ready" }
        #expect(idle.connections == 0 && idle.reason == nil && idle.credentialVersion == 1)
        #expect(idle.limitedBy == "nothing")

        try push("first", to: "idle")
        #expect(stack.simulator.counters.connectionsAccepted == 2)
        _ = try stack.route("idle", of: worker) { $0.state == "ready" && $0.connections == 1 }
        try push("beside", to: "busy")
        try push("second", to: "idle")
        #expect(stack.simulator.counters.connectionsAccepted == 2, "what was opened stays")
        #expect(try stack.route("other", of: worker) { $0.state == "ready" }.connections == 0)
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("A route whose first connection cannot be had holds one job, gives it back, and hurts no other")
    func unreachable() async throws {
        let port = try FreePort.several(1)[0]
        let stack = try await BrokerStack.start(
            "on-demand-dead",
            apps: [
                BrokerStack.App(route: "works", topic: "com.example.works"),
                BrokerStack.App(route: "dead", topic: "com.example.dead", environment: "production"),
            ], production: "https://localhost:\(port)")
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        _ = try stack.readiness(of: worker) { $0.isReady && $0.routes.allSatisfy { $0.state == "ready" } }
        let job = TestJob.raw(token: .text(Tokens.good)).keyed("production.normal.com.example.dead")
        try client.publish((0..<10).map { (job, "dead \($0)") })
        _ = try stack.route("dead", of: worker) { $0.state == "unreachable" && $0.connections == 0 }
        let queue = "apns.q.jobs.dead"
        let counts = try #require(try stack.broker.queueCounts(virtualHost: stack.virtualHost)[queue])
        #expect(counts.total == 10 && counts.ready >= 9, "\(counts)")
        for round in 0..<20 {
            try client.publishGoodJob(as: "works \(round)", topic: "com.example.works")
            #expect(try client.result("works \(round)").result.outcome == "accepted")
        }
        // Given back, or in a tier after a look for what has expired: none is held, and none is lost.
        while try stack.waitingJobs(of: "dead", { $0.ready }) != 10 { try Task.checkCancellation() }
        try client.expectNothing(in: "apns.q.dead")
        try await worker.stop()
    }

    @Test("A route without pushes for a while closes its connection and stays ready; its next job is pushed")
    func rests() async throws {
        let stack = try await BrokerStack.start(
            "on-demand-rest", apps: [BrokerStack.App(route: "rare", topic: "com.example.rare")])
        let client = try JobClient(stack)
        defer { client.close() }
        var configuration = stack.configuration
        configuration.apns.idle = .milliseconds(300)
        configuration.apns.pingInterval = .milliseconds(100)
        let worker = try LiveWorker(configuration)
        for round in 1...3 {
            try client.publishGoodJob(as: "rare \(round)", topic: "com.example.rare")
            #expect(try client.result("rare \(round)").result.outcome == "accepted")
            #expect(stack.simulator.counters.connectionsAccepted == round)
            // The simulator knows that the connection is closed, and the worker's report follows.
            _ = try stack.readiness(of: worker) { _ in stack.simulator.counters.connectionsOpen == 0 }
            let route = try stack.route("rare", of: worker) { $0.connections == 0 && $0.reason == nil }
            #expect(route.state == "ready" && route.credentialVersion == 1 && route.limitedBy == "nothing")
        }
        _ = try stack.readiness(of: worker) { $0.isReady }
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
    }

    @Test("Where the pace makes connects wait, a route with a job goes before one that only lost its connection")
    func jobsFirst() async throws {
        let stack = try await BrokerStack.start(
            "on-demand-pace",
            apps: ["lost", "late"].map { BrokerStack.App(route: $0, topic: "com.example.\($0)") })
        let client = try JobClient(stack)
        defer { client.close() }
        var configuration = stack.configuration
        configuration.apns.connectRate = 0.2
        configuration.apns.connectBurst = 1
        let worker = try LiveWorker(configuration)
        // It is accepted, and its connection ends: the replacement waits for five seconds.
        let goodbye = TestJob.raw(token: .text(Array("90a00000".utf8) + [UInt8](repeating: 0x30, count: 56)))
        try client.publish(goodbye.keyed("development.normal.com.example.lost"), as: "lost")
        #expect(try client.result("lost").result.outcome == "accepted")
        _ = try stack.route("lost", of: worker) { $0.connections == 0 }
        try client.publishGoodJob(as: "late", topic: "com.example.late")
        #expect(try client.result("late").result.outcome == "accepted")
        #expect(stack.simulator.counters.connectionsAccepted == 2, "the job did not wait for the replacement")
        _ = try stack.route("lost", of: worker) { $0.connections == 1 }
        #expect(stack.simulator.counters.connectionsAccepted == 3)
        try await worker.stop()
    }
}
