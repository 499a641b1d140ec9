/// The one table that turns how an attempt ended into what is done about it; pure, with the time passed in.
package struct RetryPolicy: Sendable, Equatable {
    /// The delays of the retry tiers, ascending.
    package var tiers: [Duration]
    /// The delays of the holding tiers, ascending: those of the retry tiers, and longer ones. A holding tier is a queue
    /// like a retry tier's, for what a producer can let wait as long as it likes: jobs whose time has not come, and jobs
    /// of a paused campaign. Only this queue has a length, so that it can be full while retries go on.
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
    /// The same for a notification that goes out alone, while others wait for what becomes of it. It may be the only one
    /// that APNs does not take. Each try may take minutes then.
    package static let maximumLoneRefusals = 3

    /// The delays before the second attempt, the third, the fourth, and every later one.
    static let ladder: [Duration] = [.seconds(15), .seconds(60), .seconds(300), .seconds(1_800)]

    /// The delays of the holding tiers beside those of the retry tiers, as the configuration has them by default.
    package static let usualHoldingTiers: [Duration] = [.seconds(3_600), .seconds(21_600)]

    /// A policy; the defaults are those of the configuration.
    ///
    /// - Parameters:
    ///   - tiers: The delays, ascending.
    ///   - holdingTiers: The delays of the holding tiers beside those of the retry tiers.
    ///   - maxAttempts: At least 1.
    ///   - maxAge: How long after the first attempt another may be made.
    package init(
        tiers: [Duration] = [.seconds(2), .seconds(15), .seconds(60), .seconds(300), .seconds(1_800)],
        holdingTiers: [Duration] = Self.usualHoldingTiers,
        maxAttempts: Int = 6, maxAge: Duration = .seconds(21_600)
    ) {
        self.tiers = tiers
        self.holdingTiers = Set(tiers + holdingTiers).sorted()
        self.maxAttempts = maxAttempts
        self.maxAge = maxAge
    }

    /// The delays of all tiers in the order of their positions: the retry tiers, then the holding tiers.
    package var allTiers: [Duration] { tiers + holdingTiers }
}
