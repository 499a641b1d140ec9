/// The one table that turns how an attempt ended into what is done about it; pure, with the time passed in.
package struct RetryPolicy: Sendable, Equatable {
    /// The delays of the retry tiers, ascending.
    package var tiers: [Duration]
    /// The delays of the holding tiers, ascending: queues like those of the retry tiers, for jobs whose time has not
    /// come. No retry waits there. None of them is a retry tier, too.
    package private(set) var holdingTiers: [Duration]
    /// How many attempts a notification gets.
    package var maxAttempts: Int
    /// How long after the first attempt another may be made.
    package var maxAge: Duration

    /// How often a notification is resent on new connections within one attempt.
    package static let maximumResends = 3

    /// How often a notification that APNs provably did not take is sent again within one attempt: it costs nothing, but
    /// an APNs that takes nothing at all would keep it going round for ever.
    package static let maximumRefusals = 100

    /// The delays before the second, third, fourth and every later attempt.
    static let ladder: [Duration] = [.seconds(15), .seconds(60), .seconds(300), .seconds(1_800)]

    /// A policy; the defaults are those of the configuration.
    ///
    /// - Parameters:
    ///   - tiers: The delays, ascending.
    ///   - holdingTiers: Those for jobs whose time has not come; the delay of a retry tier adds nothing.
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
