internal import CoreMetrics

/// A counter of swift-metrics.
final class RegistryCounter: CounterHandler, Sendable {
    /// What it writes to.
    let target: RegistryTarget

    /// Makes a handler for a series.
    init(_ target: RegistryTarget) { self.target = target }

    /// Adds to the counter.
    func increment(by amount: Int64) { target.update(.counter) { $0 += Double(amount) } }

    /// Counters never go back, or rates computed from them break.
    func reset() {}
}
