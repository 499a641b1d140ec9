import Synchronization

/// The dead tokens of a route on all its lanes. Safe on any thread.
final class SharedDeadTokens: Sendable {
    private let watch = Mutex(DeadTokenWatch())
    private let lanes: Int

    /// Starts with nothing learned.
    ///
    /// - Parameter lanes: On how many lanes the route lives.
    init(lanes: Int = 1) { self.lanes = lanes }

    /// Whether tokens should be kept for now.
    var isSuspicious: Bool { watch.withLock { $0.isSuspicious } }

    /// Learns final answers.
    ///
    /// - Parameters:
    ///   - live: How many of them did not call a token dead; they came first.
    ///   - isDeadToken: Whether one more did.
    ///   - inFlight: How many requests of one lane are under way.
    /// - Returns: Whether tokens should be kept for now.
    @discardableResult
    func learn(live: Int, isDeadToken: Bool = false, inFlight: Int) -> Bool {
        let inFlight = inFlight * lanes
        return watch.withLock { watch in
            watch.answered(live: live, inFlight: inFlight)
            if isDeadToken { watch.answered(isDeadToken: true, inFlight: inFlight) }
            return watch.isSuspicious
        }
    }
}
