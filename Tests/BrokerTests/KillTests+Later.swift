import APNSSimulator
import Glibc
import LocalStack
import Rig
import Testing

// Workers die while jobs wait for their time.
extension KillTests {
    @Test("A worker that is killed while jobs wait loses none, and none is early")
    func killedWhileWaiting() async throws {
        try await KillRing.run { ring in
            var workers = try (1...2).map { try ring.local.startWorker("worker-\($0)") }
            let time = JobIdentifier.now() + 20_000
            let jobs = (0..<2_000).map { RunJob(isRaw: $0.isMultiple(of: 2), notBefore: time) }
            let watch = try await ring.watch()
            try await ring.publish(jobs, watch.audit)
            workers[0].signal(SIGSTOP)
            let held = try await ring.jobCounts()
            workers[0].signal(SIGKILL)
            #expect(try await ring.ending(of: workers[0], within: .seconds(10)) == .signalled(SIGKILL))
            #expect(ring.local.simulator.ledger.records().isEmpty, "it was killed while they waited")
            workers.removeFirst()
            workers.append(try ring.local.startWorker("worker-3"))
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            #expect(ring.local.simulator.ledger.records().allSatisfy { $0.time >= time })
            try await ring.expectClean(watch, mostExtra: held.unacknowledged)
            try await ring.stop(workers)
        }
    }
}
