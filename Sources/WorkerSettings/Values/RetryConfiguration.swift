package import PushModel
import Text

/// The `retry` section.
package struct RetryConfiguration: Sendable, Equatable {
    /// The delays for which the broker has a queue, ascending.
    package var tiers: [Duration]
    /// The delays for which the broker has a queue that holds jobs until their time comes, ascending.
    package var holdingTiers: [Duration]
    /// The most attempts per notification.
    package var maxAttempts: Int
    /// The most time between the first attempt and the last.
    package var maxAge: Duration

    /// The names of all tiers, in the order of `RetryPolicy.allTiers`.
    package var tierNames: [String] { policy.allTiers.map { DurationText.write($0) } }

    /// The policy by which workers decide about retries.
    package var policy: RetryPolicy {
        RetryPolicy(tiers: tiers, holdingTiers: holdingTiers, maxAttempts: maxAttempts, maxAge: maxAge)
    }
}
