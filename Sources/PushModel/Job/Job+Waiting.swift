extension Job {
    /// The shortest wait that is reported, in milliseconds, if the producer gave the time in whole seconds. Then up to
    /// one second is unknown, which is more than half of a shorter wait.
    private static let leastWaitInSeconds: Int64 = 2_000

    /// How far away `notBefore` may be when the job is first read, in milliseconds: 30 days. Queues keep results
    /// for the same time.
    package static let longestWait: Int64 = 30 * 86_400_000

    /// How far away `notBefore` of a copy may be, in milliseconds: a year beyond ``longestWait``, so that a clock that was
    /// set back fails no copy. Without a limit, a copy could go from holding tier to holding tier for ever.
    package static let longestHold: Int64 = longestWait + 365 * 86_400_000

    /// Whether the job must still wait, because `notBefore` has not come.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package func isEarly(at now: Int64) -> Bool {
        guard let notBefore else { return false }
        return now < notBefore
    }

    /// When the age begins that `retry.max_age` limits, in milliseconds since 1970: the first attempt or `notBefore`,
    /// whichever is later. Nil before the first attempt.
    package var ageBegins: Int64? {
        guard let firstAttemptAt, let notBefore else { return firstAttemptAt }
        return max(firstAttemptAt, notBefore)
    }

    /// How long the job has waited since its producer queued it, in milliseconds. Nil if that is not known well enough.
    /// The wait for `notBefore` does not count.
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
    /// How much later this wall clock time is than a producer's, in milliseconds, from 0 to a year of 365 days. It has
    /// limits, because a producer may write any time.
    package func milliseconds(since earlier: Int64) -> Int {
        let (difference, overflowed) = subtractingReportingOverflow(earlier)
        return overflowed ? 0 : Int(Swift.min(Swift.max(0, difference), 31_536_000_000))
    }
}
