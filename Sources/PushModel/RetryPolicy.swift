/// What the settlement of one attempt depends on, beside how the attempt ended.
package struct AttemptFacts: Sendable {
    /// The number of the attempt that was made, from 1.
    package var attempt: Int
    /// When the first attempt was made, in milliseconds since 1970; nil when this is the first.
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
    /// Whether the route suddenly reports so many dead tokens that its configuration is suspect.
    package var holdsDeadTokens: Bool
    /// How long a parked route waits before it probes, in milliseconds.
    package var probeDelay: Int64

    /// Facts from their parts.
    package init(
        attempt: Int = 1, firstAttemptAt: Int64? = nil, deadline: Int64? = nil, expiration: Int64? = nil,
        onUnknown: OnUnknown = .retry, resends: Int = 0, refusals: Int = 0, holdsDeadTokens: Bool = false,
        probeDelay: Int64 = 15_000
    ) {
        self.attempt = attempt
        self.firstAttemptAt = firstAttemptAt
        self.deadline = deadline
        self.expiration = expiration
        self.onUnknown = onUnknown
        self.resends = resends
        self.refusals = refusals
        self.holdsDeadTokens = holdsDeadTokens
        self.probeDelay = probeDelay
    }

    /// The facts of a job's notification.
    package init(
        _ job: borrowing Job, resends: Int = 0, refusals: Int = 0, holdsDeadTokens: Bool = false,
        probeDelay: Int64 = 15_000
    ) {
        self.init(
            attempt: job.attempt, firstAttemptAt: job.firstAttemptAt, deadline: job.deadline,
            expiration: job.expiration, onUnknown: job.onUnknown, resends: resends, refusals: refusals,
            holdsDeadTokens: holdsDeadTokens, probeDelay: probeDelay)
    }
}

/// The one table that turns how an attempt ended into what is done about it; pure, with the time passed in.
package struct RetryPolicy: Sendable, Equatable {
    /// The delays of the retry tiers in milliseconds, ascending.
    package var tiers: [Int64]
    /// How many attempts a notification gets.
    package var maxAttempts: Int
    /// How long after the first attempt another may be made, in milliseconds.
    package var maxAge: Int64

    /// How often a notification is resent on new connections within one attempt.
    package static let maximumResends = 3

    /// How often a notification that APNs provably did not take is sent again within one attempt: it costs nothing, but
    /// an APNs that takes nothing at all would keep it going round for ever.
    package static let maximumRefusals = 100

    /// The delays before the second, third, fourth and every later attempt, in milliseconds.
    package static let ladder: [Int64] = [15_000, 60_000, 300_000, 1_800_000]

    /// A policy; the defaults are those of the configuration.
    /// - Parameters:
    ///   - tiers: Delays in milliseconds, ascending.
    ///   - maxAttempts: At least 1.
    ///   - maxAge: In milliseconds.
    package init(
        tiers: [Int64] = [2_000, 15_000, 60_000, 300_000, 1_800_000], maxAttempts: Int = 6,
        maxAge: Int64 = 21_600_000
    ) {
        self.tiers = tiers
        self.maxAttempts = maxAttempts
        self.maxAge = maxAge
    }
}
