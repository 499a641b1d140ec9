import APNSSimulator
import Glibc
import LocalStack
import MartletCommands
import Rig
import Testing

// Workers are asked to leave in the middle of their work.
extension KillTests {
    /// Where the tokens begin whose pushes are answered late.
    private static let slowly = "510751"
    /// How late: longer than a worker with 30 seconds of grace goes on sending (some 14 seconds, half of what is left
    /// after a second for closing), and much shorter than it waits for answers (29).
    private static let late = Scenario(
        rules: [Scenario.Rule(tokenPrefix: slowly, sequence: VerdictSequence(Verdict(.accept, delay: 20_000)))])

    /// How many requests the local APNs lets a connection have open.
    private static let streams = 1_000

    /// What a worker has to do when SIGTERM arrives.
    enum Load: CaseIterable {
        /// Pushes are answered at once: all that was taken from the queue can be finished.
        case quick
        /// Pushes are answered late: some are in flight until shortly before the end, and those not sent go back.
        case slow

        var jobs: [RunJob] {
            switch self {
            case .quick: RunJob.several(10_000)
            case .slow: RunJob.several(100) + RunJob.several(1_900, tokenPrefix: slowly)
            }
        }
    }

    @Test(
        "SIGTERM: what is in flight is finished, the rest goes back to the queue, nothing is pushed twice",
        arguments: Load.allCases)
    func drained(load: Load) async throws {
        try await KillRing.run(settings: "shutdown: { grace: 30s }") { ring in
            let jobs = load.jobs
            ring.local.simulator.control.use(Self.late)
            let watch = try await ring.watch()
            try await ring.publish(jobs, watch.audit)
            let first = try ring.local.startWorker("first")
            try await watch.until(finals: 100)
            // The worker has more than it can send at once, and so something to hand back.
            while load == .slow, try await ring.jobCounts().unacknowledged <= Self.streams {
                try Task.checkCancellation()
            }
            first.signal(SIGTERM)
            #expect(try await ring.ending(of: first, within: .seconds(31)) == .exited(0))
            let waiting = try await ring.awaitHandedBack()
            #expect(waiting > 0, "the worker left under load")
            // Everything that it took off the queue was confirmed before, and is read here.
            try await watch.until { $0.ledger.finals + waiting >= jobs.count }
            #expect(watch.audit.look { $0.ledger.finals } + waiting == jobs.count)
            ring.local.simulator.control.use(Scenario())
            let second = try ring.local.startWorker("second")
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            let handedBack = watch.audit.look { $0.redelivered }
            if load == .slow { #expect(handedBack > 0) }
            try await ring.expectClean(watch, mostExtra: 0)
            print("drain, \(load): \(jobs.count - waiting) finished, \(handedBack) handed back of \(waiting) left")
            try await ring.stop([second])
        }
    }

    @Test("Another signal a second later: the worker leaves at once, and another one finishes what it had in flight")
    func impatient() async throws {
        try await KillRing.run { ring in
            ring.local.simulator.control.use(Self.late)
            let watch = try await ring.watch()
            let jobs = Load.slow.jobs
            try await ring.publish(jobs, watch.audit)
            let first = try ring.local.startWorker("first")
            try await watch.until(finals: 100)
            let held = try await ring.jobCounts().unacknowledged
            // Two different signals: the system may merge two of a kind that arrive together. They are one wish; the
            // worker leaves at the first that comes a second later.
            first.signal(SIGTERM)
            first.signal(SIGINT)
            let patience = ContinuousClock.now.advanced(by: StopRequests.patience)
            while ContinuousClock.now < patience { #expect(first.wait(timeout: .milliseconds(100)) == nil) }
            while first.wait(timeout: .milliseconds(100)) == nil { first.signal(SIGINT) }
            #expect(try await ring.ending(of: first, within: .seconds(5)) == .exited(CommandStatus.gaveUp.rawValue))
            ring.local.simulator.control.use(Scenario())
            let second = try ring.local.startWorker("second")
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            let balance = try await ring.expectClean(watch, mostExtra: held)
            #expect(balance.explainedDuplicates > 0, "pushes were in flight when the worker left")
            print("second signal: \(balance.explainedDuplicates) pushed twice, \(held) unacknowledged just before")
            try await ring.stop([second])
        }
    }
}
