/// What the settlement of one attempt depends on, beside how the attempt ended.
package struct AttemptFacts: Sendable {
    /// The number of the attempt that was made, from 1.
    package var attempt: Int
    /// When the age that `maxAge` limits began, in milliseconds since 1970: `ageBegins` of the job. Nil when this is
    /// the first attempt.
    package var firstAttemptAt: Int64?
    /// The job's deadline in milliseconds since 1970.
    package var deadline: Int64?
    /// The notification's `apns-expiration` in seconds since 1970; 0 = try once.
    package var expiration: Int64?
    /// What the job wants when there is no answer.
    package var onUnknown: OnUnknown
    /// How often the notification was resent on a new connection within this attempt.
    package var resends: Int
    /// How often APNs provably did not take the notification within this attempt.
    package var refusals: Int
    /// Whether the notification goes out alone, to see whether APNs works: others wait for what becomes of it.
    package var isAlone: Bool
    /// Whether the route suddenly reports so many dead tokens that its configuration is suspect.
    package var holdsDeadTokens: Bool
    /// How long a parked route waits before it probes.
    package var probeDelay: Duration

    /// Facts from their parts.
    package init(
        attempt: Int = 1, firstAttemptAt: Int64? = nil, deadline: Int64? = nil, expiration: Int64? = nil,
        onUnknown: OnUnknown = .retry, resends: Int = 0, refusals: Int = 0, isAlone: Bool = false,
        holdsDeadTokens: Bool = false, probeDelay: Duration = .seconds(15)
    ) {
        self.attempt = attempt
        self.firstAttemptAt = firstAttemptAt
        self.deadline = deadline
        self.expiration = expiration
        self.onUnknown = onUnknown
        self.resends = resends
        self.refusals = refusals
        self.isAlone = isAlone
        self.holdsDeadTokens = holdsDeadTokens
        self.probeDelay = probeDelay
    }

    /// The facts of a job's notification.
    package init(
        _ job: borrowing Job, resends: Int = 0, refusals: Int = 0, isAlone: Bool = false,
        holdsDeadTokens: Bool = false, probeDelay: Duration = .seconds(15)
    ) {
        self.init(
            attempt: job.attempt, firstAttemptAt: job.ageBegins, deadline: job.deadline,
            expiration: job.expiration, onUnknown: job.onUnknown, resends: resends, refusals: refusals,
            isAlone: isAlone, holdsDeadTokens: holdsDeadTokens, probeDelay: probeDelay)
    }
}
