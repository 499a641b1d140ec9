import Text

/// A retry queue's fixed delay.
package struct RetryTier: Sendable, Equatable {
    /// The delay in milliseconds.
    package let milliseconds: Int64

    /// Makes a tier of a delay in milliseconds.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The delay as it is part of names, such as `15s` or `1m`. Equal delays have equal names, however they were
    /// written.
    package var name: String { DurationText.write(.milliseconds(milliseconds)) }
    /// The exchange that retry copies are published to.
    package var exchange: String { TopologyNames.retryExchange(tier: name) }
    /// The queue in which retry copies wait.
    package var queue: String { "\(TopologyNames.retryQueuePrefix)\(name)" }
}
