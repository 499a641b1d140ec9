import Text

// Where a job waits whose time has not come.
extension RetryPolicy {
    /// The delay of a tier.
    ///
    /// - Parameter position: Its position in `allTiers`.
    package func delay(of position: Int) -> Duration {
        position < tiers.count ? tiers[position] : holdingTiers[position - tiers.count]
    }

    /// Whether a tier is a holding tier, in which no retry waits.
    ///
    /// - Parameter position: Its position in `allTiers`.
    package func isHolding(_ position: Int) -> Bool { position >= tiers.count }

    /// The longest of the retry tiers, in which a job waits instead of a holding tier that the broker lacks; nil
    /// without one.
    package var fallbackTier: Int? { tiers.indices.last }

    /// The tier in which a job waits next whose time has not come: the longest that brings it back by then, else the
    /// shortest. So the job is never early, and late by less than the shortest tier's delay.
    ///
    /// - Parameters:
    ///   - time: When the job's time comes, in milliseconds since 1970.
    ///   - now: The present in the same unit.
    ///   - missing: Positions of holding tiers that the broker lacks.
    /// - Returns: The position in `allTiers`; nil where there is no tier.
    package func holdingTier(until time: Int64, now: Int64, missing: Set<Int> = []) -> Int? {
        let remaining = Duration.milliseconds(max(0, time - now))
        var (longest, shortest): (Int?, Int?) = (nil, nil)
        for position in 0..<(tiers.count + holdingTiers.count) where !missing.contains(position) {
            let delay = delay(of: position)
            if delay <= remaining, longest.map({ delay > self.delay(of: $0) }) ?? true { longest = position }
            if shortest.map({ delay < self.delay(of: $0) }) ?? true { shortest = position }
        }
        return longest ?? shortest
    }
}
