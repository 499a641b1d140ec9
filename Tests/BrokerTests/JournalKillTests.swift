import Glibc
import LocalStack
import Rig
import Testing

/// A worker dies holding jobs that it has pushed, and the next one in its place has its journal, or has none.
@Suite("Whole way, killed with and without a journal", .serialized, .timeLimit(.minutes(10)))
struct JournalKillTests {
    private static let prefetch = 200
    /// Bytes of one note.
    private static let recordLength = 32

    /// Lets workers die one after the other, each when so many of its jobs are confirmed and the last is not
    /// acknowledged, and a last one finish.
    ///
    /// - Returns: How many pushes were made twice.
    private func duplicates(
        jobs count: Int, dyingAfter numbers: [Int], _ setting: String = "", check: (KillRing) throws -> Void = { _ in }
    ) async throws -> Int {
        var duplicates = 0
        try await KillRing.run(settings: "prefetch: \(Self.prefetch)\n\(setting)") { ring in
            let watch = try await ring.watch()
            try await ring.publish(RunJob.several(count), watch.audit)
            for (index, number) in numbers.enumerated() {
                let worker = try ring.local.startWorker(
                    "worker-\(index)", settings: ["MARTLET_FAILPOINT": "confirmed-unacknowledged:\(number)"])
                #expect(try await ring.ending(of: worker, within: .seconds(60)) == .signalled(SIGKILL))
            }
            let last = try ring.local.startWorker("last")
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            try await ring.stop([last])
            let most = numbers.count * (Self.prefetch + 1)
            let balance = try await ring.expectClean(watch, mostExtra: most, deaths: numbers.count)
            duplicates = balance.explainedDuplicates
            try check(ring)
        }
        return duplicates
    }

    @Test("What was answered before the kill is not pushed again with a journal, and is without one")
    func answered() async throws {
        // All jobs fit into one window, and the worker dies when the last of them is confirmed.
        let jobs = Self.prefetch - 10
        let without = try await duplicates(jobs: jobs, dyingAfter: [jobs])
        let with = try await duplicates(jobs: jobs, dyingAfter: [jobs], "journal: journal")
        print("all answered: \(without) pushed twice without a journal, \(with) with one")
        #expect(without >= 1)
        #expect(with == 0)
    }

    @Test("Under load only what was in flight without an answer is pushed twice: nothing is noted twice")
    func underLoad() async throws {
        let jobs = 2_000
        let kills = [150, 151, 152]
        let with = try await duplicates(jobs: jobs, dyingAfter: kills, "journal: journal") { ring in
            let bytes = try Self.bytes(of: ring.local.directory.file("journal/lane-0.log"))
            #expect(bytes == jobs * Self.recordLength)
        }
        print("\(kills.count) kills under load: \(with) pushed twice with a journal")
    }

    private static func bytes(of path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw AuditWatch.Failure(description: "there is no \(path)") }
        return status.st_size
    }
}
