import Text

// The tiers in which a job waits before its time has come.
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

    /// The position of the longest retry tier; nil if there is no retry tier. A job waits there if the broker lacks its
    /// holding tier.
    package var fallbackTier: Int? { tiers.indices.last }

    /// The next tier for a job whose time has not come: the longest that brings it back by then, else the shortest.
    ///
    /// A job that comes back before its time waits again. The job is late by at most the shortest tier's delay.
    ///
    /// - Parameters:
    ///   - time: When the job's time comes, in milliseconds since 1970.
    ///   - now: The present, in milliseconds since 1970.
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
