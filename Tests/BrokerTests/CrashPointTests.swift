import Glibc
import LocalStack
import Rig
import Testing

@testable import PushWorker

/// Workers die at each step of a job's life, and the ledgers account for everything.
@Suite("Whole way, dying at every step", .serialized, .timeLimit(.minutes(15)))
struct CrashPointTests {
    /// How often a worker dies at each step; MARTLET_CRASHES says otherwise. More deaths belong to `make faults`.
    static let kills = getenv("MARTLET_CRASHES").flatMap { Int(String(cString: $0)) } ?? 1
    /// How many jobs a worker may hold, so that what a death can repeat has a bound; one more may be held for the
    /// consumer that looked at what comes first.
    static let prefetch = 200
    /// How many jobs there are for each death: more than the latest of them takes.
    static let jobsPerKill = 500

    @Test("A worker that dies at a step loses nothing, and repeats only what it held", arguments: FailPoint.allCases)
    func dies(point: FailPoint) async throws {
        try await KillRing.run(settings: "prefetch: \(Self.prefetch)") { ring in
            let jobs = RunJob.several(Self.kills * Self.jobsPerKill)
            let watch = try await ring.watch()
            try await ring.publish(jobs, watch.audit)
            for kill in 0..<Self.kills {
                // Steps that jobs reach one by one are reached more often than those of a turn of the loop.
                let number = point.isOfOneJob ? 98 + kill * 97 % 300 : 1 + kill * 97 % 10
                let worker = try ring.local.startWorker(
                    "\(point.rawValue)-\(kill)", settings: ["MARTLET_FAILPOINT": "\(point.rawValue):\(number)"])
                #expect(try await ring.ending(of: worker, within: .seconds(60)) == .signalled(SIGKILL))
            }
            #expect(watch.audit.look { $0.ledger.finals } < jobs.count, "the worker died under load")
            let last = try ring.local.startWorker("last")
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            let balance = try await ring.expectClean(
                watch, mostExtra: Self.kills * (Self.prefetch + 1), deaths: Self.kills)
            print("\(point.rawValue): \(Self.kills) kills, \(balance.explainedDuplicates) pushed twice")
            try await ring.stop([last])
        }
    }
}

extension FailPoint {
    /// Whether jobs reach the step one by one, instead of together in a turn of the loop.
    fileprivate var isOfOneJob: Bool {
        switch self {
        case .beforeSend, .afterAnswer, .confirmedUnacknowledged: true
        case .afterSend, .publishedUnconfirmed, .acknowledgedUnflushed: false
        }
    }
}
