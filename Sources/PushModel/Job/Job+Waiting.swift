extension Job {
    /// How long a job must have waited at least, in milliseconds, if its producer gave the time in whole seconds.
    /// Below, the second that is unknown would be half of it or more.
    private static let leastWaitInSeconds: Int64 = 2_000

    /// How far away `notBefore` may be when the job is first read, in milliseconds: 30 days, as long as queues keep
    /// results.
    package static let longestWait: Int64 = 30 * 86_400_000

    /// Whether the job's time has not come.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package func isEarly(at now: Int64) -> Bool {
        guard let notBefore else { return false }
        return now < notBefore
    }

    /// From when on the age counts that `retry.max_age` limits, in milliseconds since 1970: the first attempt, or
    /// `notBefore` where the job was sent on before that; nil before the first attempt.
    package var ageBegins: Int64? {
        guard let firstAttemptAt, let notBefore else { return firstAttemptAt }
        return max(firstAttemptAt, notBefore)
    }

    /// How long the job has waited since its producer queued it, in milliseconds; nil where that is not known well
    /// enough. The wait for `notBefore` does not count.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package func queueMilliseconds(at now: Int64) -> Int64? {
        guard let enqueuedAt else { return nil }
        if let notBefore, notBefore > enqueuedAt { return Int64(now.milliseconds(since: notBefore)) }
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
