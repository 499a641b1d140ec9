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
