import APNSSimulator
import LocalStack
import PushModel
import Rig
import TestSupport
import Topology

// Results cannot be published.
extension FaultCatalogue {
    /// Faults of the way that results take.
    static let results = refusals.map(\.onceOnly) + [duplicates]

    private static let refusals = [
        Fault(
            16, name: "results refused", expects: "Pushes little more and keeps everything; reports it all afterwards",
            isQuick: true, setup: { $0.narrow() }
        ) { ring in
            try await ring.control(
                "set_policy", "--priority", "100", "--apply-to", "queues", "bench", #"^apns\.q\.results$"#,
                #"{"max-length":1,"overflow":"reject-publish"}"#)
            try await ring.awaitStandstill("results_full", atMost: FaultSetup.mostUnreported)
            try await ring.control("clear_policy", "bench")
            try await ring.awaitReady()
        },
        Fault(
            17, name: "results returned", expects: "A returned result is not a reported one, although it is confirmed",
            setup: {
                $0.narrow()
                $0.patience = .seconds(120)
            }
        ) { ring in
            let definitions = try await ring.keepDefinitions()
            try await ring.control("clear_policy", TopologyNames.results)
            try await ring.unbind(TopologyNames.results)
            try await ring.awaitStandstill("results_unroutable", atMost: FaultSetup.mostUnreported)
            try await ring.awaitHandedBack()
            // Before the policy is there again, which leads what is not bound elsewhere.
            try await ring.bind(TopologyNames.resultsQueue, to: TopologyNames.results)
            try await ring.restore(definitions)
            try await ring.awaitReady()
        },
        Fault(
            18, name: "results exchange missing", expects: "Opens its channel again with a pause, not the connection",
            setup: {
                $0.narrow()
                $0.mostTwice = 0
            }
        ) { ring in
            let definitions = try await ring.keepDefinitions()
            let connects = try ring.worker.brokerConnects
            let began = ContinuousClock.now
            // Results whose confirm is under way when the channel closes are published again.
            try await ring.noteHeld()
            try await ring.deleteExchange(TopologyNames.results)
            try await ring.awaitStandstill("404", atMost: FaultSetup.mostUnreported)
            let seconds = Int(began.duration(to: .now).components.seconds)
            let closes = try ring.worker.logLines(with: "the broker closed a publish channel")
            ring.note("\(closes) channels in \(seconds) s")
            ring.expect(closes <= 10 + seconds, "\(closes) channels were opened in \(seconds) s")
            ring.expect(try ring.worker.brokerConnects == connects, "the worker connected again")
            try await ring.restore(definitions)
            try await ring.awaitReady()
        },
    ]

    private static let duplicates =
        Fault(
            35, name: "jobs delivered twice", expects: "Answered ones are settled from memory",
            setup: {
                $0.brokerProxy = true
                $0.outcomes.insert("dead_token")
            }
        ) { ring in
            try await ring.publishTwice(100)
            try await ring.answerUnheard(1_000)
            ring.brokerProxy?.reset()
            ring.brokerProxy?.heal()
            try await ring.awaitReady()
            try await ring.awaitEmptyJobQueues()
            let suppressed = Int(try ring.worker.metric("martlet_duplicates_suppressed_total"))
            _ = try await ring.outcomes()
            let marked = ring.audit.look { $0.suppressed }
            // Of those whose answer came only afterwards, the result is the first.
            ring.expect(0 < marked && marked <= suppressed, "\(marked) of \(suppressed) suppressed are marked so")
            ring.note("\(suppressed) suppressed, \(marked) of them marked in their results")
            let pushed = ring.pushes
            ring.expect(
                pushed == ring.promises + 100, "\(pushed) pushes for \(ring.promises) jobs, 100 of them published twice"
            )
            // The same once more, with a worker that has no memory of it.
            try await ring.answerUnheard(1_000)
            try await ring.noteHeld()
            try await ring.kill(try ring.worker)
            ring.brokerProxy?.heal()
            try ring.startWorker()
            try await ring.awaitReady()
        }
}

extension FaultRing {
    /// Publishes jobs that APNs refuses, each twice, and waits until each was pushed twice: a producer that publishes
    /// twice pushes twice. Both results have one message id.
    fileprivate func publishTwice(_ count: Int) async throws {
        let before = pushes
        let jobs = RunJob.several(count, tokenPrefix: "bad00400")
        try await publish(jobs)
        try await publish(jobs)
        try await until("each job was pushed twice") { [self] in
            jobs.allSatisfy { simulator.ledger.records(token: $0.token).count >= 2 } && pushes >= before
        }
    }

    /// Lets APNs answer jobs whose worker cannot tell the broker.
    fileprivate func answerUnheard(_ count: Int) async throws {
        try await publish(count, taking: 2_000...3_000)
        try await until("the jobs are with a worker") { [self] in
            try worker.metric("martlet_apns_requests_in_flight") >= Double(count / 2)
        }
        brokerProxy?.set { $0.stalled = [.toServer] }
        let answered = try worker.metric("martlet_notifications_total")
        try await until("answers have come") { [self] in
            try worker.metric("martlet_notifications_total") >= answered + Double(count / 4)
        }
    }
}
