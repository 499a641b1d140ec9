import Dispatch
import Testing

/// Runs tasks on a thread of its own.
///
/// The blocking client blocks: on the shared pool, which has a thread per core, it would hold up every other test.
final class ThreadExecutor: TaskExecutor {
    // Serial queues get a thread whenever they need one, however many others are blocked.
    private let queue = DispatchQueue(label: "ring")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Gives each test a thread of its own.
struct OwnThreadTrait: TestTrait, SuiteTrait, TestScoping {
    /// Each test of a suite is meant.
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor()) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    /// The test blocks, and therefore gets a thread of its own.
    static var ownThread: Self { OwnThreadTrait() }
}
