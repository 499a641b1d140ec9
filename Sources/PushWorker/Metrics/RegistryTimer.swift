internal import CoreMetrics

/// A timer of swift-metrics.
final class RegistryTimer: TimerHandler, Sendable {
    /// What it writes to.
    let target: RegistryTarget

    /// Makes a handler for a series.
    init(_ target: RegistryTarget) { self.target = target }

    /// Counts a duration.
    func recordNanoseconds(_ duration: Int64) {
        target.registry.record(target.name, target.series, microseconds: Int(duration / 1000))
    }
}
