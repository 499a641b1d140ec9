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
