/// The `retry` section.
package struct RetryConfiguration: Sendable, Equatable {
    /// The delays for which the broker has a queue, ascending.
    package var tiers: [Duration]
    /// The most attempts per notification.
    package var maxAttempts: Int
    /// The most time between the first attempt and the last.
    package var maxAge: Duration
}
