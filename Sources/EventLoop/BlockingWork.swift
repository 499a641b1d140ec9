/// Calls that block, awaited: each runs on a thread of its own, so that no task waits for another's slow socket.
package enum BlockingWork {
    /// Runs one blocking call to its end; cancelling the task does not interrupt it.
    ///
    /// - Parameters:
    ///   - name: The thread's name for debuggers.
    ///   - stackSize: The thread's stack, in bytes.
    ///   - body: The call.
    /// - Returns: The call's result.
    /// - Throws: The call's error, or `EventLoopError` when the system has no thread left.
    package static func run<Value: Sendable>(
        _ name: String, stackSize: Int = LoopThread.usualStackSize, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do throws(EventLoopError) {
                _ = try LoopThread.start(name: name, stackSize: stackSize) {
                    continuation.resume(with: Result { try body() })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
