internal import Synchronization

/// Notices when a route suddenly reports most of its tokens as dead, which is a wrong host or topic far more often than
/// a token base that died at once. Results then say `hold` instead of `drop_token` (`Results.md`, "Actions").
///
/// Pure: an exponential average over the last few hundred final answers, compared with the long-term average.
package struct DeadTokenWatch {
    /// Answers needed before anything is suspicious.
    package static let minimumAnswers = 50
    /// The recent share of dead tokens that is suspicious.
    package static let suspiciousShare = 0.5

    private var answers = 0
    private var recent = 0.0
    private var usual = 0.0

    /// Creates a watch that has seen nothing.
    package init() {}

    /// Whether tokens should be kept for now.
    package var isSuspicious: Bool {
        answers >= Self.minimumAnswers && recent >= Self.suspiciousShare && recent >= usual * 2
    }

    /// Learns final answers of APNs of which none called a token dead.
    mutating func answered(live: Int) {
        for _ in 0..<live { answered(isDeadToken: false) }
    }

    /// Learns one final answer of APNs.
    package mutating func answered(isDeadToken: Bool) {
        answers = min(answers + 1, 1_000_000)
        let share = isDeadToken ? 1.0 : 0.0
        recent += (share - recent) / 64
        usual += (share - usual) / 4_096
    }
}

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

/// One lane's part of it: what is not worth a lock yet.
struct DeadTokenTally {
    /// How many answers are held back at most: as many as weigh little in a decision.
    static let limit = 64

    private let shared: SharedDeadTokens
    private var live = 0

    /// Starts with nothing held back.
    init(_ shared: SharedDeadTokens) { self.shared = shared }

    /// Whether tokens should be kept for now; asked only about a dead one, because it takes a lock.
    mutating func isSuspicious() -> Bool {
        defer { live = 0 }
        return shared.learn(live: live)
    }

    /// Learns one final answer.
    mutating func answered(isDeadToken: Bool) {
        if !isDeadToken { live += 1 }
        guard isDeadToken || live >= Self.limit else { return }
        shared.learn(live: live, isDeadToken: isDeadToken)
        live = 0
    }
}
