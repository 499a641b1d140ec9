internal import CoreMetrics

/// One series of a registry: what every handler writes to.
struct RegistryTarget: Sendable {
    /// Where it is kept.
    let registry: MetricsRegistry
    /// The metric's name.
    let name: String
    /// Its labels.
    let series: MetricsRegistry.Series

    /// Names a series; illegal label names are made legal.
    init(_ registry: MetricsRegistry, _ name: String, _ dimensions: [(String, String)]) {
        self.registry = registry
        self.name = name
        series = MetricsRegistry.Series(
            labels: dimensions.map { label, _ in
                String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            }, values: dimensions.map(\.1))
    }

    /// Changes the series' value.
    func update(_ kind: MetricKind, _ change: (inout Double) -> Void) {
        registry.update(name, kind, series, change)
    }

    /// Removes the series.
    func forget() { registry.remove(name, series) }
}

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

/// A gauge of swift-metrics; also what recorders become.
final class RegistryGauge: MeterHandler, RecorderHandler, Sendable {
    /// What it writes to.
    let target: RegistryTarget

    /// Makes a handler for a series.
    init(_ target: RegistryTarget) { self.target = target }

    /// Sets the gauge.
    func set(_ value: Int64) { set(Double(value)) }

    /// Sets the gauge.
    func set(_ value: Double) { target.update(.gauge) { $0 = value } }

    /// Adds to the gauge.
    func increment(by amount: Double) { target.update(.gauge) { $0 += amount } }

    /// Subtracts from the gauge.
    func decrement(by amount: Double) { target.update(.gauge) { $0 -= amount } }

    /// Shows the value as the last one recorded.
    func record(_ value: Int64) { set(Double(value)) }

    /// Shows the value as the last one recorded.
    func record(_ value: Double) { set(value) }
}

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
