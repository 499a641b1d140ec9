package import PushModel
import Text

/// A queue with one fixed delay: a retry tier, or a holding tier.
package struct RetryTier: Sendable, Equatable {
    /// The delay in milliseconds.
    package let milliseconds: Int64
    /// Whether jobs wait here for their time, and no retries. Only then its queue has a length.
    package let isHolding: Bool

    /// Makes a tier of a delay in milliseconds.
    package init(milliseconds: Int64, isHolding: Bool = false) {
        self.milliseconds = milliseconds
        self.isHolding = isHolding
    }

    /// All tiers of a policy, in the order of `RetryPolicy.allTiers`.
    package static func all(of policy: RetryPolicy) -> [RetryTier] {
        policy.allTiers.enumerated().map { position, delay in
            RetryTier(milliseconds: delay.wholeMilliseconds, isHolding: policy.isHolding(position))
        }
    }

    /// The name, with the delay as in `15s` or `hold.1m`. Equal delays have equal names, however they were written.
    package var name: String {
        let delay = DurationText.write(.milliseconds(milliseconds))
        return isHolding ? TopologyNames.holdingTier(delay: delay) : delay
    }
    /// The exchange that copies are published to.
    package var exchange: String { TopologyNames.retryExchange(tier: name) }
    /// The queue in which copies wait.
    package var queue: String { TopologyNames.retryQueue(tier: name) }
}
