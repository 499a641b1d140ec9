import Testing

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
