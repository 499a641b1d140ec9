import APNSSimulator
import BrokerClient
import EventLoop
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import Testing
import Topology

@Suite("What operators ask of all workers", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct ControlTests {
    private static let apps = [
        BrokerStack.App(route: "app", topic: "com.example.app"),
        BrokerStack.App(route: "other", topic: "com.example.other"),
    ]

    /// A stack whose operator can say something.
    private struct Run {
        let stack: BrokerStack
        let client: JobClient
        let operators: AMQPBlockingClient

        init(_ stack: BrokerStack) throws {
            self.stack = stack
            client = try JobClient(stack)
            operators = try stack.connect()
            try declareStream()
        }

        /// Makes the stream where it is missing.
        func declareStream() throws { try operators.declareControlStream() }

        /// Publishes a body to the stream itself.
        func publish(_ body: [UInt8]) throws { try operators.publishCommand(body) }

        func ask(
            _ action: ControlCommand.Action, _ target: ControlCommand.Target, until: Int64? = nil,
            perSecond: Double? = nil, leavesDeadLetters: Bool = false
        ) throws {
            let command = ControlCommand(
                id: "\(action) \(target)", action: action, target: target, author: "anna", issuedAt: 1_700_000_000_000,
                until: until, reason: "a test", perSecond: perSecond, leavesDeadLetters: leavesDeadLetters)
            try publish(command.json)
        }

        /// Publishes jobs of both routes.
        func publishJobs(_ name: String, _ count: Int = 20) throws {
            for app in ControlTests.apps {
                let job = TestJob.raw(token: .text(Tokens.good)).keyed("development.normal.\(app.topic)")
                try client.publish((0..<count).map { (job: job, correlation: "\(name) \(app.route) \($0)") })
            }
        }

        /// Expects that all jobs of a route are accepted.
        func expectAccepted(_ name: String, _ route: String, _ count: Int = 20) throws {
            for number in 0..<count {
                #expect(try client.result("\(name) \(route) \(number)").result.outcome == "accepted")
            }
        }

        /// How many pushes APNs got of a route's topic.
        func pushes(_ route: String) -> Int {
            stack.simulator.ledger.records().count { $0.topic == "com.example.\(route)" }
        }

        func awaitState(_ state: String, of worker: LiveWorker) throws {
            _ = try stack.route("app", of: worker) { $0.state == state }
        }

        func close() {
            client.close()
            operators.close()
        }
    }

    @Test("A paused route pushes nothing, also after a restart, garbage, and without its stream; its neighbour goes on")
    func pause() async throws {
        let stack = try await BrokerStack.start("control-pause", apps: Self.apps)
        try await beforeRestart(stack)
        // A thread of the test's own is another one after each wait.
        try await afterRestart(stack)
        #expect(try stack.leftovers() == [:])
    }

    @Test("A rate for all workers holds a route until it is taken back, and its neighbour goes on without one")
    func rate() async throws {
        let stack = try await BrokerStack.start("control-rate", apps: Self.apps)
        let run = try Run(stack)
        defer { run.close() }
        let workers = [try stack.startWorker(), try stack.startWorker()]
        for worker in workers { try run.awaitState("ready", of: worker) }
        try run.ask(.rate, .route("app"), perSecond: 1)
        _ = try stack.readiness(of: workers[0]) { _ in
            workers.allSatisfy { $0.worker.controlStatus().inForce == 1 }
        }
        try run.publishJobs("slow")
        try run.expectAccepted("slow", "other")
        // One of them holds jobs back, because its part is used up.
        _ = try stack.readiness(of: workers[0]) { _ in
            workers.contains { worker in
                worker.worker.readiness().routes.contains { $0.name == "app" && $0.limitedBy == "rate" }
            }
        }
        try run.ask(.rate, .route("app"))
        try run.expectAccepted("slow", "app")
        for worker in workers { try await worker.stop() }
        #expect(try stack.leftovers() == [:])
    }

    @Test("A pause in which a rate was set ends by itself, also while the stream of commands is missing")
    func endsBlind() async throws {
        let stack = try await BrokerStack.start("control-blind", apps: Self.apps)
        let run = try Run(stack)
        defer { run.close() }
        let worker = try stack.startWorker()
        try run.awaitState("ready", of: worker)
        try run.ask(.pause, .route("app"), until: WallClock.milliseconds() + 25_000)
        try run.awaitState("paused", of: worker)
        try run.ask(.rate, .route("app"), perSecond: 1_000)
        _ = try stack.readiness(of: worker) { _ in worker.worker.controlStatus().inForce == 2 }
        _ = try run.operators.delete(queue: TopologyNames.controlQueue)
        _ = try stack.readiness(of: worker) { $0.control?.detail?.contains(TopologyNames.controlQueue) == true }
        #expect(try stack.route("app", of: worker) { _ in true }.state == "paused")
        try run.publishJobs("blind")
        for app in Self.apps.reversed() { try run.expectAccepted("blind", app.route) }
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }

    @Test("A resume with an end lets a paused route go on until then, also while the stream of commands is missing")
    func interruption() async throws {
        let stack = try await BrokerStack.start("control-interruption", apps: Self.apps)
        let run = try Run(stack)
        defer { run.close() }
        let worker = try stack.startWorker()
        func expectCampaign(_ outcome: String, _ name: String) throws {
            let token = String(decoding: Tokens.good, as: UTF8.self)
            let body = #"{"device_token":"\#(token)","payload":{"aps":{}},"reference":"c-7/\#(name)"}"#
            try run.client.publish([(job: TestJob.enveloped(body).keyed("development.normal.com.example.other"), name)])
            #expect(try run.client.result(name).result.outcome == outcome)
        }
        try run.ask(.cancel, .campaign("c-7/"))
        try run.ask(.pause, .route("app"))
        try run.awaitState("paused", of: worker)
        try run.publishJobs("waiting")
        try run.expectAccepted("waiting", "other")
        try expectCampaign("cancelled", "before")
        let end = WallClock.milliseconds() + 25_000
        try run.ask(.resume, .campaign("c-7/"), until: end)
        try run.ask(.resume, .route("app"), until: end)
        try run.expectAccepted("waiting", "app")
        try expectCampaign("accepted", "meanwhile")
        // A report may be older than the resume.
        try run.awaitState("ready", of: worker)
        _ = try run.operators.delete(queue: TopologyNames.controlQueue)
        _ = try stack.readiness(of: worker) { $0.control?.detail?.contains(TopologyNames.controlQueue) == true }
        try run.awaitState("paused", of: worker)
        try run.publishJobs("again")
        try run.expectAccepted("again", "other")
        try expectCampaign("cancelled", "afterwards")
        #expect(run.pushes("app") == 20)
        // What a new stream says replaces what was known.
        try run.declareStream()
        try run.expectAccepted("again", "app")
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }

    private func beforeRestart(_ stack: BrokerStack) async throws {
        let run = try Run(stack)
        defer { run.close() }
        let first = try stack.startWorker()
        try run.awaitState("ready", of: first)
        try run.publishJobs("before")
        for app in Self.apps { try run.expectAccepted("before", app.route) }

        try run.ask(.pause, .route("app"))
        try run.awaitState("paused", of: first)
        let reason = try run.stack.route("app", of: first) { $0.state == "paused" }.reason
        #expect(reason == "paused by anna: a test" && first.worker.readiness().isReady)
        try run.publishJobs("paused")
        try run.expectAccepted("paused", "other")
        #expect(run.pushes("app") == 20)

        // Garbage, and a body over the limit of commands.
        for body in [[], Array("no command".utf8), [UInt8](repeating: 0, count: 100_000)] { try run.publish(body) }
        _ = try stack.readiness(of: first) { _ in first.worker.controlStatus().ignored == 3 }
        try await first.stop()
    }

    private func afterRestart(_ stack: BrokerStack) async throws {
        let run = try Run(stack)
        defer { run.close() }
        // The count of a stream's messages is seconds old, and a worker that starts hardly waits where it is 0.
        while try run.operators.depth(of: TopologyNames.controlQueue).messages == 0 {
            try Task.checkCancellation()
            BrokerStack.pause()
        }
        let second = try run.stack.startWorker()
        try run.awaitState("paused", of: second)
        try run.publishJobs("restarted")
        try run.expectAccepted("restarted", "other")
        #expect(run.pushes("app") == 20)

        try run.ask(.resume, .route("app"))
        for name in ["paused", "restarted"] { try run.expectAccepted(name, "app") }
        #expect(run.pushes("app") == 60)

        try run.ask(.pause, .route("app"))
        try run.awaitState("paused", of: second)
        _ = try run.operators.delete(queue: TopologyNames.controlQueue)
        _ = try run.stack.readiness(of: second) { $0.control?.detail?.contains(TopologyNames.controlQueue) == true }
        try run.publishJobs("blind")
        try run.expectAccepted("blind", "other")
        #expect(run.pushes("app") == 60 && second.worker.readiness().isReady)

        // What a new stream says replaces what was known.
        try run.declareStream()
        try run.expectAccepted("blind", "app")
        _ = try run.stack.readiness(of: second) { $0.control?.detail == nil }
        try await second.stop()
    }

    @Test("A worker that starts reads a stream of more commands than may be under way to its end, and goes by the last")
    func wholeStream() async throws {
        let stack = try await BrokerStack.start("control-whole", apps: Self.apps)
        let run = try Run(stack)
        defer { run.close() }
        try run.ask(.cancel, .campaign("c-1/"))
        try run.ask(.cancel, .campaign("c-2/"))
        for number in 0..<3_000 {
            let pause = ControlCommand(
                id: "\(number)", action: .pause, target: .campaign("p-\(number % 500)/"), author: "anna",
                issuedAt: 1_700_000_000_000)
            var message = OutgoingMessage()
            message.setRoutingKey(TopologyNames.controlQueue.utf8Span.span)
            message.setBody(pause.json.span)
            _ = try run.operators.submit(message)
        }
        #expect(try run.operators.flush().allSatisfy { $0.result == .confirmed })
        try run.ask(.resume, .campaign("c-1/"))
        for campaign in [1, 2] {
            let token = String(decoding: Tokens.good, as: UTF8.self)
            let body = #"{"device_token":"\#(token)","payload":{"aps":{}},"reference":"c-\#(campaign)/1"}"#
            try run.client.publish(.enveloped(body), as: "\(campaign)")
        }
        let worker = try stack.startWorker()
        #expect(try run.client.result("1").result.outcome == "accepted")
        #expect(try run.client.result("2").result.outcome == "cancelled")
        _ = try stack.readiness(of: worker) { $0.control?.detail == nil && $0.control?.inForce == 501 }
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }

    @Test("A cancelled campaign ends while jobs flow, a paused one waits in tiers, and all others go on")
    func campaigns() async throws {
        let stack = try await BrokerStack.start("control-campaigns", apps: Self.apps)
        let run = try Run(stack)
        defer { run.close() }
        let worker = try run.stack.startWorker()
        try run.awaitState("ready", of: worker)
        try run.ask(.cancel, .campaign("c-7/"), leavesDeadLetters: true)
        try run.ask(.cancel, .campaign("c-8/"))
        try run.ask(.pause, .campaign("c-9/"))
        _ = try run.stack.readiness(of: worker) { $0.control?.inForce == 3 }

        func publish(_ reference: String, _ name: String) throws {
            let token = String(decoding: Tokens.good, as: UTF8.self)
            let body = #"{"device_tokens":["\#(token)","\#(token)"],"payload":{"aps":{}},"reference":"\#(reference)"}"#
            try run.client.publish(.enveloped(body), as: name)
        }
        for number in 0..<10 {
            for campaign in [7, 8, 9, 70] { try publish("c-\(campaign)/\(number)", "\(campaign) \(number)") }
        }
        for number in 0..<10 {
            for index in 0..<2 {
                for campaign in [7, 8] {
                    let result = try run.client.result("\(campaign) \(number)").result
                    #expect(result.outcome == "cancelled" && result.action == "none" && result.index == index)
                    #expect(result.detail == "anna cancelled the campaign c-\(campaign)/: a test")
                }
                #expect(try run.client.result("70 \(number)").result.outcome == "accepted")
            }
            let letter = try run.client.next("7 \(number)", from: TopologyNames.deadQueue)
            #expect(letter.text("x-apns-outcome") == "cancelled" && letter.text("x-apns-indexes") == nil)
        }
        #expect(run.pushes("app") == 20)
        try run.client.expectNothing(in: TopologyNames.deadQueue)

        try run.ask(.resume, .campaign("c-9/"))
        for number in 0..<10 {
            for _ in 0..<2 {
                let result = try run.client.result("9 \(number)").result
                #expect(result.outcome == "accepted" && result.attempt == 1)
            }
        }
        #expect(run.pushes("app") == 40)
        #expect(try stack.leftovers() == [:])
        try run.client.expectNothing(in: TopologyNames.resultsQueue)
        try await worker.stop()
    }
}
