import BrokerClient
import EventLoop
import LocalStack
import PushWorker
import RabbitMQ
import Rig
import Testing
import Topology
import WorkerSettings

@Suite("Dead tokens that may be alive", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct HeldTokensTests {
    /// A stack, its client, and which device tokens were used.
    private struct Run {
        let client: JobClient
        private var used = 0

        init(_ client: JobClient) { self.client = client }

        /// Publishes multicast jobs and reads their results.
        ///
        /// - Parameters:
        ///   - count: To how many device tokens; a hundred each job.
        ///   - topic: Whose they are.
        ///   - isDead: Which of them APNs calls dead.
        /// - Returns: The actions of results with a dead token, in no order.
        mutating func push(
            _ count: Int, topic: String = "com.example.app", isDead: (Int) -> Bool
        ) throws -> [String] {
            try results(count, topic: topic, isDead: isDead).map(\.action)
        }

        /// Publishes multicast jobs, as `push`.
        ///
        /// - Returns: The results with a dead token, in no order.
        mutating func results(
            _ count: Int, topic: String = "com.example.app", isDead: (Int) -> Bool
        ) throws -> [JobResult] {
            var jobs: [(TestJob, String)] = []
            for first in stride(from: 0, to: count, by: 100) {
                let tokens = (first..<min(first + 100, count)).map { number in
                    let digits = String(used + number, radix: 16)
                    let prefix = isDead(number) ? "dead041000" : "a1b2c3d4e5"
                    return #""\#(prefix)\#(String(repeating: "0", count: 54 - digits.count))\#(digits)""#
                }
                let body = #"{"device_tokens":[\#(tokens.joined(separator: ","))],"payload":{"aps":{"alert":"hi"}}}"#
                jobs.append((TestJob.enveloped(body).keyed("development.normal.\(topic)"), "wave"))
            }
            used += count
            try client.publish(jobs.map { (job: $0.0, correlation: $0.1) })
            let results = try (0..<count).map { _ in try client.result("wave").result }
            return results.filter { $0.outcome == "dead_token" }
        }
    }

    @Test("Ten thousand dead tokens in a row are held, and dropped again once most of the others are alive")
    func wrongEnvironment() async throws {
        let stack = try await BrokerStack.start("held")
        let client = try JobClient(stack)
        defer { client.close() }
        var run = Run(client)
        let worker = try stack.startWorker()
        // In waves, so that the producer's connection is never idle for long.
        let dead = try (0..<5).flatMap { _ in try run.push(2_000) { _ in true } }
        #expect(dead.count == 10_000)
        #expect(dead.count { $0 == "drop_token" } < 2 * DeadTokenWatch.minimumAnswers)
        try awaitHolds(["app"], by: worker, stack)

        // As many as outweigh what was under way, however many requests that were.
        for _ in 0..<3 { _ = try run.push(2_000) { _ in false } }
        let few = try run.push(100) { $0 % 10 == 0 }
        #expect(few.count == 10 && few.allSatisfy { $0 == "drop_token" })
        try await worker.stop()
    }

    @Test("An honest list with three dead tokens in ten is not held, and a restart changes nothing about that")
    func honest() async throws {
        let stack = try await BrokerStack.start("honest")
        for _ in 0..<2 {
            // A thread of the test's own is another one after each wait.
            let client = try JobClient(stack)
            defer { client.close() }
            var run = Run(client)
            let worker = try stack.startWorker()
            let dead = try run.push(1_000) { $0 % 10 < 3 }
            #expect(dead.count == 300 && dead.allSatisfy { $0 == "drop_token" })
            try await worker.stop()
        }
    }

    @Test("A worker restarted among dead tokens holds the first one, and the export holds back what passed before")
    func restart() async throws {
        let stack = try await BrokerStack.start("held-again")
        for round in 0..<2 {
            let client = try JobClient(stack)
            defer { client.close() }
            var run = Run(client)
            let worker = try stack.startWorker()
            let dead = try run.push(2_000) { _ in true }
            #expect(dead.count == 2_000)
            let dropped = dead.count { $0 == "drop_token" }
            if round == 0 { try awaitReport(of: "ring", "app", stack) }
            #expect(round == 0 ? dropped < 2 * DeadTokenWatch.minimumAnswers : dropped == 0, "\(dropped)")
            try await worker.stop()
        }
        let counts = try await BlockingWork.run("martlet dead tokens") {
            try ChildProcess.run(
                try LocalRun.executable(), ["dead", "tokens", "-o", "json"],
                environment: ["MARTLET_BROKER_URI": "\(stack.broker.uri)\(stack.virtualHost)"], timeout: .seconds(60))
        }
        #expect(
            counts.text
                == #"{"environment":"development","topic":"com.example.app","dead_tokens":0,"held_tokens":2000}"#
                + "\n",
            "\(counts.errorText)")
    }

    /// Starts a worker under a name of its own.
    private func worker(_ name: String, _ stack: BrokerStack) throws -> LiveWorker {
        var configuration = stack.configuration
        configuration.instance = name
        return try LiveWorker(configuration)
    }

    /// Waits until a worker has reported that it holds a route's device tokens.
    private func awaitReport(of instance: String, _ route: String, _ stack: BrokerStack) throws {
        let client = try stack.connect()
        defer { client.close() }
        try client.startConsuming(
            queue: TopologyNames.fleetQueue,
            arguments: FieldTable(entries: [.init(name: Array("x-stream-offset".utf8), value: .text("first"))]))
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        while ContinuousClock.now < deadline {
            guard let delivery = try client.receive(timeout: .milliseconds(500)) else { continue }
            try client.acknowledge(delivery)
            let report = WorkerReport(parsing: Array(delivery.bytes[delivery.body]))
            guard let report, report.instance == instance else { continue }
            guard report.routes.contains(where: { $0.name == route && $0.deadTokens?.holds == true }) else { continue }
            // The count of a stream's messages is seconds old, and a worker that starts hardly waits where it is 0.
            while try client.depth(of: TopologyNames.fleetQueue).messages == 0, ContinuousClock.now < deadline {
                BrokerStack.pause()
            }
            return
        }
        throw RingFailure("\(instance) does not report a hold")
    }

    /// Waits until a worker holds the device tokens of these routes alone. A lane's counters may be a report old.
    private func awaitHolds(_ routes: Set<String>, by worker: LiveWorker, _ stack: BrokerStack) throws {
        _ = try stack.readiness(of: worker) { _ in held(by: worker) == routes }
    }

    /// The names of the routes whose device tokens a worker holds.
    private func held(by worker: LiveWorker) -> Set<String> {
        let names = worker.worker.routeNames()
        let held = zip(names, worker.worker.snapshot().routes).filter { $0.1?.holdsTokens == true }
        return Set(held.compactMap(\.0))
    }

    @Test("A worker started beside one that holds a route holds the first dead token, and drops those of a neighbour")
    func second() async throws {
        let apps = ["app", "other"].map { BrokerStack.App(route: $0, topic: "com.example.\($0)") }
        let stack = try await BrokerStack.start("held-fleet", apps: apps)
        let client = try JobClient(stack)
        defer { client.close() }
        var run = Run(client)
        let first = try worker("first", stack)
        let passed = try run.push(2_000) { _ in true }.count { $0 == "drop_token" }
        #expect(passed < 2 * DeadTokenWatch.minimumAnswers)
        _ = try run.push(200, topic: "com.example.other") { $0 % 10 == 0 }
        try awaitReport(of: "first", "app", stack)

        let second = try worker("second", stack)
        for route in ["app", "other"] { _ = try stack.route(route, of: second) { $0.state == "ready" } }
        try awaitHolds(["app"], by: second, stack)
        let dead = try run.results(2_000) { _ in true }
        #expect(dead.count == 2_000 && Set(dead.map(\.worker)) == ["first", "second"], "\(dead.count)")
        #expect(dead.allSatisfy { $0.action == "hold" })
        let few = try run.results(2_000, topic: "com.example.other") { $0 % 10 == 0 }
        #expect(few.count == 200 && Set(few.map(\.worker)) == ["first", "second"], "\(few.count)")
        #expect(few.allSatisfy { $0.action == "drop_token" })
        for worker in [first, second] { try await worker.stop() }
    }

    @Test("A hold outlives an operator's word that is older than the worker and read late, and ends with a new one")
    func oldTrust() async throws {
        let stack = try await BrokerStack.start("held-trust")
        let client = try JobClient(stack)
        defer { client.close() }
        let operators = try stack.connect()
        defer { operators.close() }
        _ = try operators.delete(queue: TopologyNames.controlQueue)
        var run = Run(client)
        let worker = try stack.startWorker()
        _ = try run.push(500) { _ in true }
        try awaitHolds(["app"], by: worker, stack)
        func trust(_ id: String, at time: Int64) throws {
            let command = ControlCommand(
                id: id, action: .trust, target: .route("app"), author: "anna", issuedAt: time)
            try operators.publishCommand(command.json)
        }
        try operators.declareControlStream()
        try trust("old", at: 1_700_000_000_000)
        _ = try stack.readiness(of: worker) { $0.control?.detail == nil }
        #expect(Set(try run.push(100) { _ in true }) == ["hold"])
        try trust("new", at: WallClock.milliseconds())
        try awaitHolds([], by: worker, stack)
        #expect(Set(try run.push(100) { _ in true }) == ["drop_token"])
        try await worker.stop()
    }

    @Test(
        "A stream of reports that is missing or full of garbage keeps no worker from working", arguments: [false, true])
    func unreadable(isMissing: Bool) async throws {
        let stack = try await BrokerStack.start("held-\(isMissing ? "missing" : "garbage")")
        let client = try JobClient(stack)
        defer { client.close() }
        let administrator = try stack.connect()
        defer { administrator.close() }
        if isMissing {
            try administrator.delete(queue: TopologyNames.fleetQueue)
        } else {
            let bodies = [[], Array(#"{"type":"martlet.worker"}"#.utf8), [UInt8](repeating: 91, count: 200_000)]
            for number in 0..<300 {
                let body = bodies[number % bodies.count]
                var message = OutgoingMessage()
                message.setExchange(TopologyNames.fleet.utf8Span.span)
                message.setType(WorkerReport.messageType.utf8Span.span)
                message.setBody(body.span)
                _ = try administrator.submit(message)
            }
            #expect(try administrator.flush().allSatisfy { $0.result == .confirmed })
        }
        var run = Run(client)
        let worker = try stack.startWorker()
        let dead = try run.push(1_000) { _ in true }
        #expect(dead.count == 1_000 && Set(dead) == ["drop_token", "hold"], "it learns by itself")
        #expect(dead.count { $0 == "drop_token" } < 2 * DeadTokenWatch.minimumAnswers)
        _ = try stack.readiness(of: worker) { $0.isReady }
        try await worker.stop()
    }
}
