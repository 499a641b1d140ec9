extension Job {
    /// How long a job must have waited at least, in milliseconds, if its producer gave the time in whole seconds. Below,
    /// the second that is unknown would be half of it or more.
    private static let leastWaitInSeconds: Int64 = 2_000

    /// How long the job has waited since its producer queued it, in milliseconds; nil where that is not known well enough.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package func queueMilliseconds(at now: Int64) -> Int64? {
        guard let enqueuedAt else { return nil }
        let waited = Int64(now.milliseconds(since: enqueuedAt))
        return isEnqueuedInSeconds && waited < Self.leastWaitInSeconds ? nil : waited
    }
}

extension Int64 {
    /// How much later this wall clock time is than a producer's, in milliseconds: never negative, never more than a
    /// year, because a producer may claim any time at all.
    package func milliseconds(since earlier: Int64) -> Int {
        let (difference, overflowed) = subtractingReportingOverflow(earlier)
        return overflowed ? 0 : Int(Swift.min(Swift.max(0, difference), 31_536_000_000))
    }
}
