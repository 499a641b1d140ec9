internal import CoreMetrics

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
