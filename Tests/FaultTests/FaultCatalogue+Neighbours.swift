import APNSSimulator
import EventLoop
import Foundation
import LocalStack
import PushModel
import Rig
import TestSupport
import Text
import Topology

// One app's trouble at the broker, and a neighbour whose results must not come later for it.
extension FaultCatalogue {
    /// Faults of one app's queues, exchanges, replies and keys.
    static let neighbours = [
        Fault(
            148, name: "a job queue full while retries come back", expects: "Neither app's retries wait for it",
            setup: {
                // Long enough for all copies to be in it while the policy is set.
                $0.besideNeighbour(tier: .seconds(15))
                $0.apps.append(LocalRun.App(route: "news", topic: "com.example.news"))
                $0.variables["MARTLET_PREFETCH"] = "50"
            }
        ) { ring in
            let others = ring.retried(20, of: ring.setup.apps[1])
            try await ring.publish(ring.retried(200, of: ring.setup.apps[0]) + others)
            let published = ContinuousClock.now
            // A queue is full only as long as jobs wait in it: half a minute, with a hundred pushes of ten seconds at
            // once.
            try await ring.publish(RunJob.several(400, taking: 9_000...9_999))
            try await ring.control(
                "set_policy", "--priority", "100", "--apply-to", "queues", "bench", #"^apns\.q\.jobs\.shop$"#,
                #"{"max-length":0,"overflow":"reject-publish"}"#)
            ring.neighbour?.judgeFromNow()
            // Otherwise the run says nothing of what comes back to a queue that refuses.
            try await ring.until("all copies are in the tier", within: .seconds(10) * Slowness.factor) {
                try ring.broker.queueCounts()["apns.q.retry.15s"]?.total == 220
            }
            // The broker tries again after three minutes what a queue refused, and holds back what is behind it.
            let limit = (.seconds(15) + .seconds(5)) * Slowness.factor
            try await ring.until("the other app's copies are back", within: limit - published.duration(to: .now)) {
                others.allSatisfy { ring.simulator.ledger.records(token: $0.token).contains { $0.status == 200 } }
            }
            let waiting = try ring.broker.queueCounts()["apns.q.jobs.shop"]?.ready ?? 0
            ring.expect(waiting > 0, "the job queue was not full any more: the run says nothing")
            try await ring.awaitEmptyTiers()
            try await ring.judgeNeighbour()
            try await ring.awaitEmptyJobQueues()
            try await ring.control("clear_policy", "bench")
        },
        Fault(
            149, name: "a tier's exchange missing", expects: "Copies wait; nobody else's results do",
            setup: { $0.besideNeighbour() }
        ) { ring in
            let definitions = try await ring.keepDefinitions()
            try await ring.deleteExchange("apns.retry.2s")
            try await ring.publish(ring.retried(300, of: ring.setup.apps[0]))
            ring.neighbour?.judgeFromNow()
            try await ring.until("a copy has cost its channel") {
                try ring.worker.logLines(with: "the broker closed a publish channel") > 1
            }
            // One copy is tried by itself, and the others wait for it. Looked at while the neighbour has work: where no
            // other route has any, that route's trouble is the worker's.
            try await ring.until("it is that route's trouble alone", within: .seconds(15)) {
                try ring.worker.readiness().reasons.isEmpty
            }
            try await ring.endure(.seconds(5))
            try await ring.judgeNeighbour()
            try await ring.restore(definitions)
            try await ring.awaitReady()
        },
        Fault(
            150, name: "a route's own results queue refuses",
            expects: "That route stands still, and nothing multiplies",
            setup: {
                $0.besideNeighbour()
                $0.mostTwice = 0
            }
        ) { ring in
            // What was under way when the queue became full is in the other queue, and is published once more.
            ring.noteHeld(atMost: 1_000)
            try await ring.importOwnResultsQueue()
            try await ring.publish(3_000)
            try await ring.until("the route says what is wrong") {
                try ring.worker.readiness().routes.contains { $0.reason == "results_full" }
            }
            ring.neighbour?.judgeFromNow()
            try await ring.endure(.seconds(5))
            try await ring.judgeNeighbour()
            try await ring.judgeCopies()
            try await ring.control("delete_queue", "team")
            try await ring.awaitReady()
        },
        Fault(
            161, name: "a route's own results queue confirms nothing",
            expects: "That route stands still; the others' results go on",
            setup: {
                $0.besideNeighbour()
                $0.mostTwice = 0
            }
        ) { ring in
            let patience = Duration.seconds(60) * Slowness.factor
            ring.noteHeld(atMost: 1_000)
            try await ring.importOwnResultsQueue(holding: 100_000, overflow: "drop-head")
            try await ring.publish(100)
            try await ring.awaitEmptyJobQueues()
            // As a queue whose majority is down: RabbitMQ routes to it, and waits.
            try await ring.evaluate("sys:suspend('%2F_team')")
            ring.neighbour?.judgeFromNow()
            try await ring.publish(3_000)
            try await ring.until("the route says what is wrong", within: patience) {
                try ring.worker.readiness().routes.contains { $0.reason == "results_unconfirmed" }
            }
            let disconnects = try ring.worker.metric("martlet_broker_disconnects_total")
            // Longer than the patience with a broker that confirms nothing at all.
            try await ring.endure(.seconds(45))
            try await ring.judgeNeighbour()
            let more = try ring.worker.metric("martlet_broker_disconnects_total") - disconnects
            ring.note("\(Int(disconnects)) connections given up at first, \(Int(more)) later")
            ring.expect(disconnects + more <= 2, "connections were given up again and again")
            try await ring.evaluate("sys:resume('%2F_team')")
            try await ring.awaitReady()
            try await ring.awaitEmptyJobQueues()
            try await ring.control("delete_queue", "team")
        },
        Fault(
            151, name: "a key that cannot be read at start",
            expects: "Its route waits and says why, until the file is there",
            setup: { $0.besideNeighbour() }
        ) { ring in
            let key = try await ring.startAnewWithoutKey()
            try await ring.publish(500)
            try await ring.judgeNeighbour()
            let state = try ring.worker.readiness().routes.first { $0.name == ring.setup.apps[0].route }
            ring.expect(state?.state == "parked", "the route is \(state?.state ?? "not there")")
            ring.expect(state?.reason?.contains(key) == true, "the route says \(state?.reason ?? "nothing")")
            try await ring.bringKey(to: key)
            try await ring.awaitEmptyJobQueues()
        },
        Fault(
            152, name: "jobs expire while their key is missing",
            expects: "Each has its result while the route is stopped; the others are pushed later",
            setup: {
                $0.besideNeighbour()
                $0.outcomes = ["accepted", "expired"]
            }
        ) { ring in
            let key = try await ring.startAnewWithoutKey()
            try await ring.publish(ring.expiring(300, after: .seconds(5)))
            try await ring.publish(100)
            try await ring.judgeNeighbour()
            try await ring.until("all that expired is reported") {
                try ring.worker.metric("martlet_notifications_total", #""expired""#) == 300
            }
            try await ring.bringKey(to: key)
            try await ring.awaitEmptyJobQueues()
            try await ring.awaitEmptyTiers()
        },
        Fault(
            159, name: "another app's certificate at start",
            expects: "Its route waits and says why, until a worker has the right credential",
            setup: { $0.besideNeighbour() }
        ) { ring in
            let worker = try await ring.startAnew(ring.credentials(first: try ring.strangersCertificate()))
            try await ring.publish(500)
            try await ring.judgeNeighbour()
            let state = try worker.readiness().routes.first { $0.name == ring.setup.apps[0].route }
            ring.expect(state?.state == "parked", "the route is \(state?.state ?? "not there")")
            ring.expect(
                state?.reason?.contains("is not for \"\(ring.setup.apps[0].topic)\"") == true,
                "the route says \(state?.reason ?? "nothing")")
            worker.process.signal(SIGTERM)
            try await ring.retire(worker, endingWith: .exited(0))
            _ = try ring.startWorker()
            try await ring.awaitEmptyJobQueues()
        },
    ]
}

extension FaultSetup {
    /// One app beside a neighbour on the same worker, and one tier, so that the second attempt comes soon.
    ///
    /// - Parameter tier: The tier's delay, one of ``LocalRun/tiers``.
    mutating func besideNeighbour(tier: Duration = .seconds(2)) {
        neighbour = true
        jobs = 200
        milliseconds = 0...100
        settings += "\nretry: { tiers: [\(tier.components.seconds)s] }"
    }
}

extension FaultRing {
    /// Jobs of one app that need a second attempt.
    func retried(_ count: Int, of app: LocalRun.App) -> [RunJob] {
        var jobs = RunJob.several(count, tokenPrefix: "fa111503")
        for index in jobs.indices { jobs[index].topic = app.topic }
        return jobs
    }

    /// Lets another worker follow, to which the first app's key is missing; the neighbour is judged from then on.
    ///
    /// - Returns: Where the key belongs.
    fileprivate func startAnewWithoutKey() async throws -> String {
        let key = local.directory.file("missing.p8")
        _ = try await startAnew(credentials(first: Self.key("local", key, "MARTLET001")))
        return key
    }

    /// Ends the worker and starts another one, with which the neighbour is judged.
    ///
    /// - Parameter variables: What its environment says.
    fileprivate func startAnew(_ variables: [String: String]) async throws -> FaultWorker {
        let first = try worker
        first.process.signal(SIGTERM)
        try await retire(first, endingWith: .exited(0))
        let next = try startWorker(variables)
        try await awaitRoute(FaultNeighbour.app.route)
        neighbour?.judgeFromNow()
        return next
    }

    /// Makes a push certificate of an app that nobody here has.
    ///
    /// - Returns: The credential that it is.
    fileprivate func strangersCertificate() throws -> String {
        let apple = try AppleStyleCertificates()
        var content = AppleStyleCertificates.Content()
        content.userID = "com.example.stranger"
        content.topics = nil
        let files = try apple.issue("stranger", content)
        let (certificate, key) = (local.directory.file("stranger.pem"), local.directory.file("stranger.key"))
        try FileManager.default.copyItem(atPath: files.certificateFile, toPath: certificate)
        try FileManager.default.copyItem(atPath: files.keyFile, toPath: key)
        return #"{"name":"local","kind":"certificate","cert_file":"\#(certificate)","key_file":"\#(key)"}"#
    }

    /// Puts the first app's key where it belongs.
    fileprivate func bringKey(to path: String) async throws {
        try await BlockingWork.run("key") { [local] in
            try FileManager.default.copyItem(atPath: local.directory.file("AuthKey_MARTLET001.p8"), toPath: path)
        }
    }

    /// Jobs of the first app that expire soon.
    fileprivate func expiring(_ count: Int, after time: Duration) -> [RunJob] {
        let deadline = WallClock.milliseconds() + time.wholeMilliseconds
        var jobs = RunJob.several(count)
        for index in jobs.indices {
            jobs[index].topic = setup.apps[0].topic
            jobs[index].deadline = deadline
        }
        return jobs
    }

    /// Waits until no copy is in a tier.
    func awaitEmptyTiers() async throws {
        try await until("no copy is in a tier") { [self] in
            try broker.queueCounts().allSatisfy { name, counts in !name.hasPrefix("apns.q.retry.") || counts.total == 0
            }
        }
    }

    /// A worker's credentials: of the first app, and of the neighbour.
    ///
    /// - Parameter first: The first app's.
    fileprivate func credentials(first: String) -> [String: String] {
        let own = Self.key("own", local.directory.file("AuthKey_MARTLET002.p8"), "MARTLET002")
        return ["MARTLET_CREDENTIALS": "[\(first),\(own)]"]
    }

    private static func key(_ name: String, _ file: String, _ id: String) -> String {
        #"{"name":"\#(name)","kind":"token","key_file":"\#(file)","key_id":"\#(id)","team_id":"MARTLETDEV"}"#
    }

    /// Gives the first app a queue of its own for results, as small as one that nobody reads is full.
    ///
    /// - Parameters:
    ///   - length: How many results fit into it.
    ///   - overflow: What becomes of one more.
    fileprivate func importOwnResultsQueue(holding length: Int = 10, overflow: String = "reject-publish") async throws {
        let definitions = """
            {"queues":[{"vhost":"/","name":"team","durable":true,"auto_delete":false,"arguments":\
            {"x-queue-type":"quorum","x-max-length":\(length),"x-overflow":"\(overflow)"}}],\
            "bindings":[{"vhost":"/","source":"apns.results","destination":"team","destination_type":"queue",\
            "routing_key":"*.*.\(setup.apps[0].topic)","arguments":{}}]}
            """
        try await BlockingWork.run("own queue") { [broker] in
            try broker.importDefinitions(json: Array(definitions.utf8))
        }
    }

    /// Expects that the default queue of results holds little more than what was pushed, and goes on doing so; the
    /// neighbour has ended.
    fileprivate func judgeCopies() async throws {
        let before = try await surplus()
        try await endure(.seconds(10))
        let after = try await surplus()
        note("\(after) more results than pushes, \(after - before) of them within 10 s")
        // One per backoff and lane, whose longest is four seconds, drawn evenly.
        expect(after - before <= 40, "\(after - before) more results than pushes within 10 s")
    }

    /// How many more results than pushes there are.
    private func surplus() async throws -> Int {
        try await BlockingWork.run("copies") { [self] in
            (try broker.queueCounts()[TopologyNames.resultsQueue]?.total ?? 0) - neighboursResults - pushes
        }
    }
}
