import APNSSimulator
import Glibc
import LocalStack
import PushModel
import Rig
import Testing
import Text
import Topology

/// A job that kills every worker that takes it up is found, whatever was delivered together with it.
@Suite("Whole way, with a poisonous job", .serialized, .timeLimit(.minutes(10)))
struct PoisonTests {
    private static let jobs = 1_000
    /// How often a worker is started at most.
    private static let restarts = 40

    @Test("A job that crashes worker after worker ends in the dead letters; all others are pushed")
    func poison() async throws {
        try await KillRing.run(settings: "prefetch: 500") { ring in
            let jobs = RunJob.several(Self.jobs)
            // In the midst of the first window, so that there are neighbours before and behind it.
            let culprit = jobs[250]
            let watch = try await ring.watch()
            try await ring.publish(jobs, watch.audit)
            var crashes = 0
            var survivor: ChildProcess?
            while survivor == nil, crashes < Self.restarts {
                let worker = try ring.local.startWorker(
                    "worker-\(crashes)", settings: ["MARTLET_FAILPOINT": "crash-on-job:\(culprit.id)"])
                while survivor == nil {
                    if let ending = try await ring.ending(of: worker, within: .milliseconds(200)) {
                        #expect(ending == .signalled(SIGKILL))
                        crashes += 1
                        break
                    }
                    if watch.audit.look({ $0.ledger.open }) == 0 { survivor = worker }
                }
            }
            let worker = try #require(survivor, "after \(crashes) crashes the job still kills workers")
            // Returned twenty times: once each time a worker died of it.
            #expect(crashes == 20)
            try await ring.awaitEmptyJobQueue()
            let state = try await ring.account(of: watch)
            let accepted = ResultRecord.Kind(outcome: "accepted", status: 200, reason: nil)
            let poisonous = ResultRecord.Kind(outcome: "exhausted", status: nil, reason: "Poison")
            #expect(state.outcomes == [accepted: Self.jobs - 1, poisonous: 1])
            #expect(state.deadLetters == [TopologyNames.deadQueue: 1])
            let balance = state.ledger.balance()
            #expect(balance.isClean)
            #expect(!ring.local.simulator.ledger.records().contains { $0.id.description == culprit.id })
            print("poison: \(crashes) crashes, \(balance.explainedDuplicates) pushed twice")
            try await ring.stop([worker])
        }
    }
}
