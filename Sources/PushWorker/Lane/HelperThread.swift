import EventLoop

/// Runs one blocking call on a thread of its own.
enum HelperThread {
    /// Starts the call; `orElse` is called instead when the system has no thread left.
    static func run(
        _ name: String, _ body: @escaping @Sendable () -> Void, orElse: (EventLoopError) -> Void
    ) {
        do throws(EventLoopError) {
            // The thread is not joined. It cleans up after itself.
            _ = try LoopThread.start(name: name) { body() }
        } catch {
            orElse(error)
        }
    }
}
