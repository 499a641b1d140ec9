import Synchronization

/// The dead tokens of a route on all its lanes. Safe on any thread.
final class SharedDeadTokens: Sendable {
    private let watch = Mutex(DeadTokenWatch())

    /// Starts with nothing learned.
    init() {}

    /// Learns final answers.
    ///
    /// - Parameters:
    ///   - live: How many of them did not call a token dead; they came first.
    ///   - isDeadToken: Whether one more did.
    /// - Returns: Whether tokens should be kept for now.
    @discardableResult
    func learn(live: Int, isDeadToken: Bool = false) -> Bool {
        watch.withLock { watch in
            watch.answered(live: live)
            if isDeadToken { watch.answered(isDeadToken: true) }
            return watch.isSuspicious
        }
    }
}
