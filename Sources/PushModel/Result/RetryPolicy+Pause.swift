import Text

// What becomes of notifications that an operator holds.
extension RetryPolicy {
    /// Where a notification is while an operator holds it.
    package enum Pause: Equatable, Sendable {
        /// In the tier at this position, its attempt unchanged.
        case tier(Int)
        /// Nowhere: it is over.
        case over(FinalReport)
    }

    /// Where a notification waits that an operator holds: in the longest tier that ends within the pause. `maxAge` does
    /// not count, because it waits as it would in its queue.
    ///
    /// - Parameters:
    ///   - duration: How long the pause lasts; nil where no end is known.
    ///   - facts: What the decision depends on.
    ///   - now: Milliseconds since 1970.
    /// - Returns: A tier, or what is reported where no tier brings the notification back in its time.
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
