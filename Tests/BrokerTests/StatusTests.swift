import BrokerClient
import LocalStack
import PushWorker
import RabbitMQ
import Rig
import Testing
import Topology

@testable import MartletCommands

@Suite("A status of a real broker and worker", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct StatusTests {
    /// Runs the program until what it prints is as wanted; each run takes the time it needs.
    private func status(
        _ stack: BrokerStack, _ arguments: [String] = [], login: String = "guest:guest",
        until isWanted: (JSON) -> Bool
    ) throws -> (json: JSON, status: Int32) {
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        let places = [stack.uri, stack.broker.managementURI].map { $0.replacing("guest:guest", with: login) }
        let options = ["--broker", places[0], "--management", places[1], "-o", "json"]
        while true {
            let outcome = try ChildProcess.run(
                try LocalRun.executable(), ["status"] + options + arguments, environment: [:], timeout: .seconds(50))
            let json = try JSON(reading: outcome.output)
            if isWanted(json) { return (json, outcome.status) }
            guard ContinuousClock.now < deadline else {
                throw RingFailure("\(outcome.status): \(outcome.text)\(outcome.errorText)")
            }
        }
    }

    /// Publishes jobs with a client of its own, because between two of them the broker may lose its patience with a silent
    /// one.
    private func publish(_ jobs: [(job: TestJob, correlation: String)], to stack: BrokerStack) throws {
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publish(jobs)
    }

    private func element(_ list: String, _ name: String, _ value: String, of json: JSON) -> JSON? {
        json[list]?.elements.first { $0[name]?.text == value }
    }

    @Test("It tells that nobody works, then who works on what, then what failed and why; and changes nothing")
    func life() async throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let stack = try await BrokerStack.start("status", ownBroker: broker)
        let job = TestJob.raw(token: .text(Tokens.good))
        try publish((0..<3).map { (job, "job \($0)") }, to: stack)

        let idle = try status(stack) { json in
            element("findings", "object", "workers", of: json)?["detail"]?.text?.contains("3 jobs wait") == true
        }
        #expect(idle.status == 1)
        #expect(idle.json["workers"]?.elements.isEmpty == true && idle.json["workers_trouble"]?.text == nil)
        #expect(idle.json["broker"]?["nodes"]?.elements.count == 1)

        let worker = try stack.startWorker()
        let busy = try status(stack) { json in
            element("routes", "name", "app", of: json)?["state"]?.text == "ready"
                && element("queues", "name", "apns.q.jobs.app", of: json)?["consumers"]?.integer == 1
                && element("workers", "instance", "ring", of: json)?["accepted"]?.integer == 3
        }
        let ring = try #require(element("workers", "instance", "ring", of: busy.json))
        #expect(ring["state"]?.text == "ready" && ring["version"]?.text == "test" && ring["share"]?.text == "all")
        #expect(element("findings", "object", "workers", of: busy.json) == nil)

        try publish([(job.with { $0.headers = [] }, "no token")], to: stack)
        let failed = try status(stack, ["--reasons"]) { json in
            element("dead_letters", "queue", "apns.q.dead", of: json)?["count"]?.integer == 1
        }
        let letters = try #require(element("dead_letters", "queue", "apns.q.dead", of: failed.json)?["reasons"])
        #expect(letters.elements.map { $0["outcome"]?.text } == ["invalid"])
        #expect(letters.elements.map { $0["count"]?.integer } == [1])
        #expect(failed.status == 1)
        #expect(
            element("findings", "object", "queue apns.q.dead", of: failed.json)?["next"]?.text == "martlet dead list")
        #expect(
            try broker.queueCounts(virtualHost: stack.virtualHost)["apns.q.dead"]
                == QueueCounts(ready: 1, unacknowledged: 0))

        // What `topology render --users` allows those who make queues: not the nodes.
        try broker.control(["add_user", "watcher", "secret"])
        try broker.control(["set_user_tags", "watcher", "policymaker"])
        try broker.control(
            [
                "set_permissions", "--vhost", stack.virtualHost, "watcher", #"^apns\..+$"#, #"^apns\..+$"#,
                #"^apns\..+$"#,
            ])
        let watched = try status(stack, ["--reasons"], login: "watcher:secret") { json in
            element("workers", "instance", "ring", of: json) != nil
        }
        #expect(watched.json["broker"]?["nodes"]?.elements.isEmpty == true)
        #expect(element("queues", "name", "apns.q.jobs.app", of: watched.json)?["consumers"]?.integer == 1)

        try await worker.stop()
        let over = try status(stack) { json in
            element("workers", "instance", "ring", of: json)?["state"]?.text == "draining"
        }
        #expect(over.json["routes"]?.elements.isEmpty == true)
    }

    @Test("A worker works as well where nobody can report, and the status says why it shows no workers")
    func withoutStream() async throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let stack = try await BrokerStack.start("status-bare", ownBroker: broker)
        let administrator = try stack.connect()
        defer { administrator.close() }
        try administrator.delete(queue: TopologyNames.fleetQueue)
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        try client.publish(TestJob.raw(token: .text(Tokens.good)), as: "job")
        #expect(try client.result("job").result.outcome == "accepted")
        _ = try stack.readiness(of: worker) { $0.isReady }
        let bare = try status(stack) { $0["workers_trouble"]?.text != nil }
        #expect(bare.json["workers_trouble"]?.text?.contains("apns.q.fleet") == true)
        try client.publish(TestJob.raw(token: .text(Tokens.good)), as: "another")
        #expect(try client.result("another").result.outcome == "accepted")
        try await worker.stop()
    }
}
