/// The one table that turns how an attempt ended into what is done about it; pure, with the time passed in.
package struct RetryPolicy: Sendable, Equatable {
    /// The delays of the retry tiers, ascending.
    package var tiers: [Duration]
    /// The delays of the holding tiers, ascending. A holding tier is a queue like a retry tier's, for jobs whose time
    /// has not come. No retry waits there. No delay is also that of a retry tier.
    package private(set) var holdingTiers: [Duration]
    /// How many attempts a notification gets.
    package var maxAttempts: Int
    /// How long after the first attempt another may be made.
    package var maxAge: Duration

    /// How often a notification is resent on new connections within one attempt, at most.
    package static let maximumResends = 3

    /// How often a notification that APNs provably did not take is sent again within one attempt, at most. Sending
    /// again costs nothing. Without a limit, an APNs that takes nothing would make the worker send it for ever.
    package static let maximumRefusals = 100

    /// The delays before the second attempt, the third, the fourth, and every later one.
    static let ladder: [Duration] = [.seconds(15), .seconds(60), .seconds(300), .seconds(1_800)]

    /// A policy; the defaults are those of the configuration.
    ///
    /// - Parameters:
    ///   - tiers: The delays, ascending.
    ///   - holdingTiers: The delays for jobs whose time has not come. A delay that a retry tier has is dropped.
    ///   - maxAttempts: At least 1.
    ///   - maxAge: How long after the first attempt another may be made.
    package init(
        tiers: [Duration] = [.seconds(2), .seconds(15), .seconds(60), .seconds(300), .seconds(1_800)],
        holdingTiers: [Duration] = [.seconds(3_600), .seconds(21_600)],
        maxAttempts: Int = 6, maxAge: Duration = .seconds(21_600)
    ) {
        self.tiers = tiers
        self.holdingTiers = holdingTiers.filter { !tiers.contains($0) }
        self.maxAttempts = maxAttempts
        self.maxAge = maxAge
    }

    /// The delays of all tiers in the order of their positions: the retry tiers, then the holding tiers.
    package var allTiers: [Duration] { tiers + holdingTiers }
}
