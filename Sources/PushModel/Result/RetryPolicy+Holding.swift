import Text

// The tiers of jobs that are held: their time has not come, or their campaign is paused.
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

    /// Where a job waits if the broker lacks a holding tier: in the longest retry tier that is no longer. The shortest
    /// may be longer.
    ///
    /// - Parameter position: The position of the holding tier.
    /// - Returns: The position of the retry tier; nil without retry tiers.
    package func substitute(for position: Int) -> Int? {
        tiers.lastIndex { $0 <= delay(of: position) } ?? tiers.indices.first
    }

    /// The holding tier with the delay of a retry tier; the retry tier itself where the broker lacks it.
    ///
    /// - Parameters:
    ///   - tier: The position of the retry tier.
    ///   - missing: Positions of holding tiers that the broker lacks.
    package func holdingTier(like tier: Int, missing: Set<Int>) -> Int {
        guard let index = holdingTiers.firstIndex(of: tiers[tier]) else { return tier }
        return missing.contains(tiers.count + index) ? tier : tiers.count + index
    }

    /// The next holding tier for a job whose time has not come: the longest that brings it back by then, else the shortest.
    ///
    /// A job that comes back before its time waits again. The job is late by at most the shortest tier's delay.
    ///
    /// - Parameters:
    ///   - time: When the job's time comes, in milliseconds since 1970.
    ///   - now: The present, in milliseconds since 1970.
    ///   - missing: Positions of holding tiers that the broker lacks. A retry tier of the same delay stands in for one.
    /// - Returns: The position in `allTiers`; nil where there is no tier.
    package func holdingTier(until time: Int64, now: Int64, missing: Set<Int> = []) -> Int? {
        let remaining = Duration.milliseconds(max(0, time - now))
        func position(_ index: Int) -> Int? {
            missing.contains(tiers.count + index) ? tiers.firstIndex(of: holdingTiers[index]) : tiers.count + index
        }
        let fitting = holdingTiers.indices.reversed().lazy.filter { holdingTiers[$0] <= remaining }
        return fitting.compactMap(position).first ?? holdingTiers.indices.lazy.compactMap(position).first
    }
}
