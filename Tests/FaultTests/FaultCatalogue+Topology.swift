import APNSSimulator
import Glibc
import LocalStack
import PushModel
import Rig
import Topology

@testable import PushWorker

// What workers need at the broker is gone, or not as it was.
extension FaultCatalogue {
    /// Faults of queues, exchanges and policies.
    static let topology = drifts.map(\.onceOnly) + [storm]

    private static let drifts = [
        Fault(
            19, name: "queue deleted", expects: "Consumes again once it is back; other routes do not notice",
            setup: twoApps
        ) { ring in
            let definitions = try await ring.keepDefinitions()
            try await ring.awaitEmptyJobQueues()
            let connects = try ring.worker.brokerConnects
            // All with the worker when their queue goes: they are still reported.
            try await ring.publish(200, to: shop, taking: 9_000...9_999)
            try await ring.until("the worker has them all") {
                let counts = try ring.broker.queueCounts()["apns.q.jobs.shop"]
                return counts?.ready == 0 && counts?.unacknowledged == 200
            }
            try await ring.control("delete_queue", "apns.q.jobs.shop")
            try await ring.awaitLog("the broker cancelled a consumer", of: try ring.worker)
            let pushes = ring.pushes
            try await ring.publish(1_000, to: news, taking: 0...500)
            try await ring.until("the other route pushes on") { ring.pushes >= pushes + 1_000 }
            ring.expect(try ring.worker.isReady, "one route without a queue made the worker unready")
            ring.expect(try ring.worker.brokerConnects == connects, "the worker connected again")
            try await ring.restore(definitions)
            try await ring.awaitRoute("shop")
            try await ring.awaitReady()
        },
        Fault(
            20, name: "queue missing at start", expects: "Says which, asks again and again; other routes work",
            isQuick: true,
            setup: {
                twoApps(&$0)
                $0.jobs = 0
            }
        ) { ring in
            let definitions = try await ring.keepDefinitions()
            let first = try ring.worker
            first.process.signal(SIGTERM)
            try await ring.retire(first, endingWith: .exited(0))
            try await ring.control("delete_queue", "apns.q.jobs.shop")
            let worker = try ring.startWorker()
            try await ring.awaitRoute("news")
            try await ring.awaitRoute(FaultNeighbour.app.route)
            ring.neighbour?.judgeFromNow()
            try await ring.publish(500, to: news)
            try await ring.until("the other route pushes") { ring.pushes >= 500 }
            try await ring.awaitLog("apns.q.jobs.shop", of: worker)
            let state = try worker.readiness().routes.first { $0.name == "shop" }
            ring.expect(state?.reason?.contains("404") == true, "the route says \(state?.reason ?? "nothing")")
            ring.expect(state?.state == "starting", "the route is \(state?.state ?? "not there")")
            try await ring.judgeNeighbour()
            try await ring.control("delete_queue", "apns.q.jobs.news")
            try await ring.control("delete_queue", TopologyNames.jobQueue(route: FaultNeighbour.app.route))
            try await ring.until("the worker is not ready without any queue") { worker.saysUnready }
            try await ring.restore(definitions)
            try await ring.awaitRoute("shop")
            try await ring.awaitReady()
        },
        Fault(
            52, name: "topology drifts",
            expects: "What needs the missing parts waits in its queue, readiness says for what; nothing is lost",
            setup: {
                $0.neighbour = true
                $0.outcomes.insert("dead_token")
                $0.mostTwice = 0
            }
        ) { ring in
            let definitions = try await ring.keepDefinitions()
            for policy in [TopologyNames.jobs, TopologyNames.results, "apns.q.jobs.*"] {
                try await ring.control("clear_policy", policy)
            }
            try await ring.deleteExchange(TopologyNames.dead)
            // One in fifty needs a dead letter, and the results of those around it could be published.
            let refused = RunJob.several(40, tokenPrefix: "bad00400")
            for job in refused { try await ring.publish(RunJob.several(49) + [job]) }
            try await ring.awaitStandstill(TopologyNames.dead, isPartial: true)
            // What was published beside a dead letter without an exchange was published again, as the same message, and
            // may have been acknowledged by now.
            ring.noteHeld(atMost: RouteCredit.maximum)
            let kept = try await ring.local.jobCounts().total
            ring.expect(kept >= refused.count, "only \(kept) jobs are kept, and \(refused.count) have no dead letter")
            try await ring.restore(definitions)
            try await ring.awaitReady()
            try await ring.awaitEmptyJobQueues()
            let counts = try await ring.local.queueCounts()
            let dead = counts[TopologyNames.deadTokensQueue]?.total ?? 0
            ring.expect(dead >= refused.count, "\(dead) dead letters for \(refused.count) dead tokens")
            try await ring.judgeNeighbour()
            let results = try await ring.local.queueCounts()[TopologyNames.resultsQueue]?.total ?? 0
            ring.note("\(results - ring.neighboursResults - ring.promises) results twice")
        },
    ]

    /// What the broker meant for a channel that was just lost counts as returned, though it was never read here. That
    /// looks like another worker's death, so some of it is pushed again, and the result says so.
    private static let storm = Fault(
        22, name: "channels closed (406)", expects: "Opens them again after a pause, and takes no job for poison"
    ) { ring in
        let connects = try ring.worker.brokerConnects
        try await ring.noteHeld()
        // As if the worker had declared a queue with other arguments than it has (406).
        let declare = "{'queue.declare',0,<<\"apns.q.results\">>,false,true,false,false,false,[]}"
        let close = "[rabbit_channel:do(C, \(declare)) || C <- rabbit_channel:list()]"
        let began = ContinuousClock.now
        try await ring.evaluate("[begin \(close), receive after 100 -> ok end end || _ <- lists:seq(1, 80)]")
        let seconds = Int(began.duration(to: .now).components.seconds)
        let closed = try ring.worker.logLines(with: "the broker closed a")
        ring.note("\(closed) channels in \(seconds) s")
        ring.expect(closed >= 4, "only \(closed) channels were closed")
        // Two routes and two publish channels; a pause is a tenth of a second at least for publishing.
        ring.expect(closed <= 20 * (seconds + 1), "\(closed) channels were opened in \(seconds) s")
        // Where the declaration came before the worker's own channel.open, the broker closes the connection (504).
        let early = try ring.worker.logLines(with: #""code":"504""#)
        ring.expect(try ring.worker.brokerConnects == connects + early, "the worker connected again")
        try await ring.awaitReady()
    }

    private static let shop = "com.example.shop"
    private static let news = "com.example.news"

    private static func twoApps(_ setup: inout FaultSetup) {
        setup.apps.append(LocalRun.App(route: "news", topic: news))
        setup.jobs = 1_000
        setup.neighbour = true
    }
}

extension FaultRing {
    /// Publishes jobs for one app.
    fileprivate func publish(_ count: Int, to topic: String, taking milliseconds: ClosedRange<Int> = 0...0) async throws
    {
        var jobs = RunJob.several(count, taking: milliseconds)
        for index in jobs.indices { jobs[index].topic = topic }
        try await publish(jobs)
    }
}
