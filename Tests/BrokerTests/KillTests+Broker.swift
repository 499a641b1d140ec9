import EventLoop
import LocalStack
import Rig
import Testing

// The broker leaves in the middle of a worker's work.
extension KillTests {
    /// How a broker goes away.
    enum Departure: CaseIterable {
        /// It is stopped in good order and started again.
        case restart
        /// It is killed and started again.
        case crash
    }

    @Test(
        "The broker goes and comes back: the worker reconnects and everything is accounted for",
        arguments: Departure.allCases)
    func brokerGone(departure: Departure) async throws {
        try await KillRing.run(settings: "lanes: 1") { ring in
            // A thousand are in flight. The second half takes five seconds per push, so the worker is busy for longer
            // than the broker needs to leave.
            let jobs =
                RunJob.several(2_500, tokenPrefix: "de1a000500") + RunJob.several(2_500, tokenPrefix: "de1a005000")
            // Its copies of the results go with the broker; the real queue keeps them all.
            let progress = try await ring.watch(reading: .taps)
            try await ring.publish(jobs, progress.audit)
            let worker = try ring.local.startWorker("worker")
            try await progress.until(finals: jobs.count / 2)
            let held = try await ring.jobCounts()
            try await BlockingWork.run("broker") { [broker = ring.local.broker] in
                if departure == .crash { broker.crash() }
                try broker.restart()
            }
            #expect(progress.audit.look { $0.ledger.finals } < jobs.count, "the broker left under load")
            let watch = try await ring.watch()
            watch.audit.record { ledger in
                for job in jobs { ledger.promised(job: job.id) }
            }
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            let balance = try await ring.expectClean(watch, mostExtra: held.unacknowledged)
            #expect(worker.isRunning)
            print(
                "broker \(departure): \(balance.lost.count) lost, \(balance.explainedDuplicates) pushed twice,",
                "\(held.unacknowledged) unacknowledged just before")
            try await ring.stop([worker])
        }
    }
}
