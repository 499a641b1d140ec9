import Glibc
import LocalStack
import Testing

@testable import martlet

/// A worker dies holding jobs that it has pushed, and the next one in its place has its journal, or has none.
@Suite("Whole way, killed with and without a journal", .serialized, .timeLimit(.minutes(10)))
struct JournalKillTests {
    private static let kills = 3
    private static let prefetch = 200
    private static let jobs = 2_000
    /// Bytes of one note.
    private static let recordLength = 32

    /// Lets workers die when most of what they hold is pushed and nothing is acknowledged.
    /// - Returns: How many pushes were made twice.
    private func duplicates(_ setting: String, afterwards check: (KillRing) async throws -> Void) async throws -> Int {
        var duplicates = 0
        try await KillRing.run(settings: "lanes: 1\nprefetch: \(Self.prefetch)\n\(setting)") { ring in
            let jobs = RunJob.several(Self.jobs)
            let watch = try await AuditWatch(ring.local)
            try await ring.publish(jobs, watch.audit)
            for kill in 0..<Self.kills {
                let worker = try ring.local.startWorker(
                    "worker-\(kill)", settings: ["MARTLET_FAILPOINT": "confirmed-unacknowledged:\(150 + kill)"])
                #expect(try await ring.ending(of: worker, within: .seconds(60)) == .signalled(SIGKILL))
            }
            let last = try ring.local.startWorker("last")
            try await watch.untilComplete()
            try await ring.awaitEmptyJobQueue()
            try await ring.stop([last])
            let most = Self.kills * (Self.prefetch + 1)
            duplicates = try await ring.expectClean(watch, mostExtra: most, deaths: Self.kills).explainedDuplicates
            try await check(ring)
        }
        return duplicates
    }

    @Test("With a journal only what was in flight without an answer is pushed twice; without one, all that was held")
    func killed() async throws {
        let without = try await duplicates("") { _ in }
        let with = try await duplicates("journal: journal") { ring in
            // Whatever was pushed although it had been noted would be noted twice.
            let bytes = try Self.bytes(of: ring.local.directory.file("journal/lane-0.log"))
            #expect(bytes == Self.jobs * Self.recordLength)
        }
        print("\(Self.kills) kills: \(without) pushed twice without a journal, \(with) with one")
        #expect(without >= Self.prefetch / 2)
        #expect(with < without / 2)
    }

    private static func bytes(of path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw AuditWatch.Failure(description: "there is no \(path)") }
        return status.st_size
    }
}
