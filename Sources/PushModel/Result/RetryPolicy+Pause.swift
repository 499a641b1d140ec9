import Text

// Where notifications wait while an operator holds them.
extension RetryPolicy {
    /// Where a notification is while an operator holds it.
    package enum Pause: Equatable, Sendable {
        /// In the tier at this position, its attempt unchanged.
        case tier(Int)
        /// Nowhere: the notification ends with this report.
        case over(FinalReport)
    }

    /// Where a notification waits while an operator holds it: in the longest tier that ends within the pause and before
    /// the notification's time ends. The shortest tier may be longer than the pause.
    ///
    /// `maxAge` does not count, because the notification waits as it would in its queue.
    ///
    /// - Parameters:
    ///   - duration: How long the pause lasts; nil if no end is known.
    ///   - facts: What the decision depends on.
    ///   - now: Milliseconds since 1970.
    /// - Returns: A tier. A report if there is no tier, or if no tier brings the notification back in its time.
    package func pause(for duration: Duration?, job facts: AttemptFacts, now: Int64) -> Pause {
        if let longest = tiers.last,
            let tier = postponingTier(atMost: duration ?? longest, job: facts, now: now)
        {
            return .tier(tier)
        }
        guard let shortest = tiers.first else {
            return .over(FinalReport(.exhausted, .replay, detail: "an operator holds it, and there is no retry tier"))
        }
        return .over(
            FinalReport(
                .expired, .none, reason: facts.reasonOfExpiry(at: now + shortest.wholeMilliseconds),
                detail: "an operator holds it until after its time"))
    }
}
