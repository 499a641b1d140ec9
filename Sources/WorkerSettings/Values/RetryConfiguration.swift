package import PushModel
import Topology

/// The `retry` section.
package struct RetryConfiguration: Sendable, Equatable {
    /// The delays for which the broker has a queue, ascending.
    package var tiers: [Duration]
    /// More delays for which the broker has a queue that holds jobs until their time comes, ascending.
    package var holdingTiers: [Duration]
    /// How many bytes wait at most in a queue that holds jobs.
    package var holdingLimit = BrokerTopology.usualHoldingLimit
    /// The most attempts per notification.
    package var maxAttempts: Int
    /// The most time between the first attempt and the last.
    package var maxAge: Duration

    /// The names of all tiers, in the order of `RetryPolicy.allTiers`.
    package var tierNames: [String] { RetryTier.all(of: policy).map(\.name) }

    /// The policy by which workers decide about retries.
    package var policy: RetryPolicy {
        RetryPolicy(tiers: tiers, holdingTiers: holdingTiers, maxAttempts: maxAttempts, maxAge: maxAge)
    }
}
