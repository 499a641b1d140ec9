import BrokerClient
import Foundation
import LocalStack
import PushModel
import RabbitMQ
import TestSupport

@testable import martlet

// One app's trouble at the broker, and another app whose results must not come later for it.
extension FaultCatalogue {
    /// Faults of one of two apps, judged by the other one's latency too.
    static let neighbours = [
        Fault(
            148, name: "a job queue full while retries come back", expects: "Neither app's retries wait for it",
            setup: { $0.neighbours() }
        ) { ring in
            let alone = try await ring.neighboursLatency()
            try await ring.publish(ring.retried(200, of: ring.setup.apps[0]) + ring.retried(20, of: ring.setup.apps[1]))
            try await ring.control(
                "set_policy", "--priority", "100", "--apply-to", "queues", "bench", #"^apns\.q\.jobs\.shop$"#,
                #"{"max-length":0,"overflow":"reject-publish"}"#)
            try await ring.judgeNeighbour(alone: alone)
            try await ring.awaitEmptyJobQueues()
            try await ring.awaitEmptyTiers()
            try await ring.control("clear_policy", "bench")
        },
        Fault(
            149, name: "a tier's exchange missing", expects: "Copies wait; nobody else's results do",
            setup: { $0.neighbours() }
        ) { ring in
            let alone = try await ring.neighboursLatency()
            let definitions = try await ring.keepDefinitions()
            try await ring.deleteExchange("apns.retry.2s")
            try await ring.publish(ring.retried(300, of: ring.setup.apps[0]))
            try await ring.until("a copy has cost its channel") {
                try ring.worker.logLines(with: "the broker closed a publish channel") > 1
            }
            try await ring.judgeNeighbour(alone: alone)
            ring.expect(try ring.worker.readiness().reasons.isEmpty, "the worker is not ready for all of that")
            try await ring.restore(definitions)
            try await ring.awaitReady()
        },
        Fault(
            150, name: "a route's own results queue refuses",
            expects: "That route stands still, and nothing multiplies",
            setup: {
                $0.neighbours()
                $0.mostTwice = 0
            }
        ) { ring in
            let alone = try await ring.neighboursLatency()
            // What was under way when the queue became full is in the other queue, and is published once more.
            ring.noteHeld(atMost: 1_000)
            try await ring.importOwnResultsQueue()
            try await ring.publish(ring.load(3_000, of: ring.setup.apps[0]))
            try await ring.until("the route says what is wrong") {
                try ring.worker.readiness().routes.contains { $0.reason == "results_full" }
            }
            try await ring.judgeNeighbour(alone: alone)
            try await ring.judgeCopies()
            try await ring.control("delete_queue", "team")
            try await ring.awaitReady()
        },
        Fault(
            151, name: "a key that cannot be read at start",
            expects: "Its route waits and says why, until the file is there",
            setup: { $0.neighbours() }
        ) { ring in
            let alone = try await ring.neighboursLatency()
            let first = try ring.worker
            first.process.signal(SIGTERM)
            try await ring.retire(first, endingWith: .exited(0))
            let key = ring.local.directory.file("missing.p8")
            try ring.startWorker(ring.separateKeys(first: key))
            try await ring.awaitRoute("news")
            try await ring.publish(ring.load(500, of: ring.setup.apps[0]))
            try await ring.judgeNeighbour(alone: alone)
            let state = try ring.worker.readiness().routes.first { $0.name == ring.setup.apps[0].route }
            ring.expect(state?.state == "parked", "the route is \(state?.state ?? "not there")")
            ring.expect(state?.reason?.contains(key) == true, "the route says \(state?.reason ?? "nothing")")
            try await BlockingWork.run("key") { [local = ring.local] in
                try FileManager.default.copyItem(atPath: local.directory.file("AuthKey_MARTLET001.p8"), toPath: key)
            }
            try await ring.awaitEmptyJobQueues()
        },
        Fault(
            152, name: "jobs expire while their key is missing",
            expects: "Each has its result while the route is stopped; the others are pushed later",
            setup: {
                $0.neighbours()
                $0.outcomes = ["accepted", "expired"]
            }
        ) { ring in
            let alone = try await ring.neighboursLatency()
            let first = try ring.worker
            first.process.signal(SIGTERM)
            try await ring.retire(first, endingWith: .exited(0))
            let key = ring.local.directory.file("missing.p8")
            try ring.startWorker(ring.separateKeys(first: key))
            try await ring.awaitRoute("news")
            let deadline = Int64(Date().timeIntervalSince1970 * 1_000) + 5_000
            try await ring.publish(ring.load(300, of: ring.setup.apps[0], deadline: deadline))
            try await ring.publish(ring.load(100, of: ring.setup.apps[0]))
            try await ring.judgeNeighbour(alone: alone)
            try await ring.until("all that expired is reported") {
                try ring.worker.metric("martlet_notifications_total", #""expired""#) == 300
            }
            try await BlockingWork.run("key") { [local = ring.local] in
                try FileManager.default.copyItem(atPath: local.directory.file("AuthKey_MARTLET001.p8"), toPath: key)
            }
            try await ring.awaitEmptyJobQueues()
            try await ring.awaitEmptyTiers()
        },
    ]
}

extension FaultSetup {
    /// What the neighbour's results are read from while its latency is measured.
    fileprivate static let neighboursQueue = "neighbour"

    /// Two apps on the same lanes, and one tier, so that the second attempt comes soon.
    fileprivate mutating func neighbours() {
        jobs = 200
        milliseconds = 0...100
        apps.append(LocalRun.App(route: "news", topic: "com.example.news"))
        settings += "\nretry: { tiers: [2s] }"
        leftovers.insert(Self.neighboursQueue)
    }
}

extension FaultRing {
    /// Jobs of one app that need a second attempt.
    fileprivate func retried(_ count: Int, of app: LocalRun.App) -> [RunJob] {
        var jobs = RunJob.several(count, tokenPrefix: "fa111503")
        for index in jobs.indices { jobs[index].topic = app.topic }
        return jobs
    }

    /// Settings by which the first app has a key of its own.
    fileprivate func separateKeys(first file: String) -> [String: String] {
        let keys = [("first", file), ("second", local.directory.file("AuthKey_MARTLET001.p8"))]
        let credentials = keys.map {
            #"{"name":"\#($0.0)","kind":"token","key_file":"\#($0.1)","key_id":"MARTLET001","team_id":"MARTLETDEV"}"#
        }
        let routes = zip(setup.apps, keys).map { app, key in
            #"{"name":"\#(app.route)","environment":"development","topics":["\#(app.topic)"],"credential":"\#(key.0)"}"#
        }
        return [
            "MARTLET_CREDENTIALS": "[\(credentials.joined(separator: ","))]",
            "MARTLET_ROUTES": "[\(routes.joined(separator: ","))]",
        ]
    }

    /// Jobs of one app.
    fileprivate func load(_ count: Int, of app: LocalRun.App, deadline: Int64? = nil) -> [RunJob] {
        var jobs = RunJob.several(count)
        for index in jobs.indices {
            jobs[index].topic = app.topic
            jobs[index].deadline = deadline
        }
        return jobs
    }

    /// How long a job of the second app takes from before it is published until its result is there, the median of many;
    /// what it takes to connect and look is part of it.
    fileprivate func neighboursLatency() async throws -> Duration {
        let (app, queue) = (setup.apps[1], FaultSetup.neighboursQueue)
        try await BlockingWork.run("neighbour") { [local] in
            let client = try local.connect("neighbour")
            defer { client.close() }
            _ = try client.declareQueue(queue, exclusive: false)
            try client.bind(queue: queue, exchange: TopologyNames.results, routingKey: "*.*.\(app.topic)")
            try client.purge(queue: queue)
        }
        var times: [Duration] = []
        for _ in 0..<51 {
            let began = ContinuousClock.now
            try await publish(load(1, of: app))
            try await BlockingWork.run("result") { [local] in
                let client = try local.connect("neighbour")
                defer { client.close() }
                try client.startConsuming(queue: queue)
                guard let result = try client.receive(timeout: .seconds(60)) else {
                    throw FaultFailure("a job of the neighbour has no result after a minute")
                }
                try client.acknowledge(result)
            }
            times.append(began.duration(to: .now))
        }
        return Self.median(times)
    }

    /// Expects that the second app's results come about as soon as they did before anything was wrong.
    fileprivate func judgeNeighbour(alone: Duration) async throws {
        let beside = try await neighboursLatency()
        let ratio = beside / alone
        note("the neighbour's median latency is \((ratio * 100).rounded() / 100) times that of before")
        expect(ratio <= 3, "the neighbour's median latency is \(ratio) times that of before: \(alone), \(beside)")
    }

    /// Waits until no copy is in a tier.
    fileprivate func awaitEmptyTiers() async throws {
        try await until("no copy is in a tier") { [self] in
            try broker.queueCounts().allSatisfy { name, counts in !name.hasPrefix("apns.q.retry.") || counts.total == 0
            }
        }
    }

    /// Gives the first app a queue of its own for results, as small as one that nobody reads is full.
    fileprivate func importOwnResultsQueue() async throws {
        let definitions = """
            {"queues":[{"vhost":"/","name":"team","durable":true,"auto_delete":false,"arguments":\
            {"x-queue-type":"quorum","x-max-length":10,"x-overflow":"reject-publish"}}],\
            "bindings":[{"vhost":"/","source":"apns.results","destination":"team","destination_type":"queue",\
            "routing_key":"*.*.\(setup.apps[0].topic)","arguments":{}}]}
            """
        try await BlockingWork.run("own queue") { [broker] in
            try broker.importDefinitions(json: Array(definitions.utf8))
        }
    }

    /// Expects that the default queue of results holds little more than what was pushed, and goes on doing so.
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
            (try broker.queueCounts()[TopologyNames.resultsQueue]?.total ?? 0) - pushes
        }
    }
}
