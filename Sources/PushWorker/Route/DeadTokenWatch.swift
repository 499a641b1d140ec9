/// Notices when most of a route's tokens are suddenly reported as dead. The cause is a wrong host or topic far more
/// often than tokens that all died at once. Results then say `hold` instead of `drop_token` (`Results.md`, "Actions").
///
/// - A hold begins where the share of dead tokens among the latest answers reaches a limit, and ends with a clear
///   majority of live tokens.
/// - A route whose tokens are often dead may have a higher limit. The route earns the higher limit slowly, and only by
///   mixed answers: the usual share does not change during a hold. So a wrong environment never becomes usual.
/// - A new worker begins with what the other workers of its fleet know. So it need not learn their holds anew.
///
/// Pure: exponential averages of the latest answers, and of thousands of answers outside holds and trust.
package struct DeadTokenWatch {
    /// Answers needed before anything is suspicious.
    package static let minimumAnswers = 50
    /// The share of dead tokens that begins a hold on a route about which nothing is known.
    package static let firstLimit = 0.5
    /// The share that begins a hold on any route.
    package static let highestLimit = 0.8
    /// The share at which a hold ends on a route about which nothing is known.
    package static let clearMajority = 1.0 / 3

    /// By how much the limit is above the route's usual share.
    private static let margin = 0.3
    /// How far above the usual share a hold may end, and how far below the limit the hold must end.
    private static let (aboveUsual, belowLimit) = (0.1, 0.05)

    /// About how many answers count as the latest, plus one for each request recently in flight.
    static let latest = 64.0
    /// The usual share is an average of this many times as many answers as the latest share.
    static let history = 64.0

    /// How many answers it has heard.
    private var heard = 0
    /// How many answers weigh in the recent share.
    private var answers = 0.0
    private var recent = 0.0
    private var usual = 0.0
    /// About how many answers count as the latest now.
    private var window = DeadTokenWatch.latest

    /// Whether tokens should be kept for now.
    package private(set) var isSuspicious = false
    /// Whether an operator has looked at the dead tokens of the present kind, and trusts them.
    private var isTrusted = false

    /// Creates a watch that has seen nothing.
    package init() {}

    /// Creates a watch that begins where others are.
    ///
    /// - Parameter knowledge: What they know.
    package init(from knowledge: DeadTokenKnowledge) {
        answers = min(Double(knowledge.answers), Self.latest)
        recent = knowledge.latest
        usual = knowledge.usual
        isSuspicious = knowledge.holds
        isTrusted = knowledge.isTrusted && !knowledge.holds
    }

    /// What it knows; nil for a watch that has seen nothing, and that began without knowledge.
    package var knowledge: DeadTokenKnowledge? {
        guard heard > 0 || answers > 0 || usual > 0 else { return nil }
        return DeadTokenKnowledge(
            answers: heard, latest: recent, usual: usual, holds: isSuspicious, isTrusted: isTrusted)
    }

    /// The share of dead tokens that begins a hold.
    private var limit: Double { min(Self.highestLimit, max(Self.firstLimit, usual + Self.margin)) }
    /// The share of dead tokens that ends a hold. A route whose tokens are often dead need not become better than
    /// usual.
    private var release: Double { max(Self.clearMajority, min(usual + Self.aboveUsual, limit - Self.belowLimit)) }

    /// An operator says that the dead tokens can be trusted. A hold ends. No hold begins before a clear majority of
    /// live tokens shows that the situation has changed. A watch that sees nothing unusual does not need the trust.
    package mutating func trust() {
        isSuspicious = false
        isTrusted = answers > 0 && recent > release
    }

    /// Learns answers of APNs that accepted a push.
    ///
    /// - Parameters:
    ///   - live: How many.
    ///   - inFlight: How many requests were under way.
    mutating func answered(live: Int, inFlight: Int) {
        for _ in 0..<live { answered(isDeadToken: false, inFlight: inFlight) }
    }

    /// Learns one answer of APNs that accepted a push or called a token dead. Another answer says nothing about a token.
    ///
    /// - Parameters:
    ///   - isDeadToken: Whether it calls the token dead.
    ///   - inFlight: How many requests were under way.
    package mutating func answered(isDeadToken: Bool, inFlight: Int) {
        // Servers were seen to answer the requests that they accept first, and the requests that they refuse after all
        // of those. So an answer says something only together with the answers to all requests that were under way at
        // the same time.
        window = max(Self.latest + Double(inFlight), window - 0.25)
        heard += 1
        answers = min(answers + 1, window)
        let share = isDeadToken ? 1.0 : 0.0
        recent += (share - recent) / answers
        if isTrusted {
            isTrusted = recent > release
        } else if isSuspicious {
            isSuspicious = recent > release
        } else {
            isSuspicious = answers >= Double(Self.minimumAnswers) && recent >= limit
        }
        if !isSuspicious, !isTrusted { usual += (share - usual) / (Self.history * window) }
    }
}
