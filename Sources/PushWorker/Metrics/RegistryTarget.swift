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
