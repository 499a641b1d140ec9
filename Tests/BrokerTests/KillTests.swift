import APNSSimulator
import Glibc
import LocalStack
import Rig
import Testing

/// Workers die in the middle of their work, and nothing of it shows in the end but pushes made twice, each explained.
///
/// Suites that break what they run on come one after the other: each needs the whole machine.
@Suite("Whole way, broken under load", .serialized, .timeLimit(.minutes(15)))
struct KillTests {
    /// How many workers are killed, one per round; MARTLET_KILLS says otherwise. Each round takes half a minute of the
    /// time that every change waits for; hundreds of kills belong to `make faults`.
    static let rounds = getenv("MARTLET_KILLS").flatMap { Int(String(cString: $0)) } ?? 1
    /// How many jobs each round publishes. The second half takes some seconds per push, so that the blow comes under
    /// load however fast the machine is.
    static let jobs = 10_000

    @Test("Three workers share a queue; one is killed half way and replaced, again and again: nothing is lost")
    func killed() async throws {
        try await KillRing.run { ring in
            var workers = try (1...3).map { try ring.local.startWorker("worker-\($0)") }
            for round in 1...Self.rounds {
                let began = ContinuousClock.now
                ring.local.simulator.reset()
                let watch = try await ring.watch()
                let slow = RunJob.several(Self.jobs / 2, taking: 2_000...4_000)
                async let published: Void = ring.publish(RunJob.several(Self.jobs / 2) + slow, watch.audit)
                try await watch.until(finals: Self.jobs / 2)
                // Frozen first: what it holds does not change between the count and the blow.
                workers[0].signal(SIGSTOP)
                let held = try await ring.jobCounts()
                workers[0].signal(SIGKILL)
                #expect(watch.audit.look { $0.ledger.finals } < Self.jobs, "the worker was killed under load")
                #expect(try await ring.ending(of: workers[0], within: .seconds(10)) == .signalled(SIGKILL))
                workers.removeFirst()
                workers.append(try ring.local.startWorker("worker-\(round + 3)"))
                try await published
                #expect(watch.audit.look { $0.ledger.promises } == Self.jobs)
                try await watch.untilComplete()
                try await ring.awaitEmptyJobQueue()
                let balance = try await ring.expectClean(watch, mostExtra: held.unacknowledged)
                print(
                    "kill \(round): \(balance.lost.count) lost, \(balance.explainedDuplicates) pushed twice,",
                    "\(held.unacknowledged) unacknowledged just before, \(began.duration(to: .now))")
            }
            try await ring.stop(workers)
        }
    }
}
