/// The one table that turns how an attempt ended into what is done about it; pure, with the time passed in.
package struct RetryPolicy: Sendable, Equatable {
    /// The delays of the retry tiers, ascending.
    package var tiers: [Duration]
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
    /// - Parameters:
    ///   - tiers: The delays, ascending.
    ///   - maxAttempts: At least 1.
    ///   - maxAge: How long after the first attempt another may be made.
    package init(
        tiers: [Duration] = [.seconds(2), .seconds(15), .seconds(60), .seconds(300), .seconds(1_800)],
        maxAttempts: Int = 6, maxAge: Duration = .seconds(21_600)
    ) {
        self.tiers = tiers
        self.maxAttempts = maxAttempts
        self.maxAge = maxAge
    }
}
