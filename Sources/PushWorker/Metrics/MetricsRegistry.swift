package import CoreMetrics
internal import PushModel
internal import Synchronization

/// The metrics of everything that is not a lane: a backend for swift-metrics, and the text of all metrics together.
///
/// Labels must be few and fixed; a family that grows beyond ``seriesLimit`` takes no more, and says so in
/// `martlet_metrics_dropped_total`.
package final class MetricsRegistry: Sendable {
    /// The most label combinations of one family.
    static let seriesLimit = 500

    /// The labels of a series, in the order of the call that made it.
    struct Series: Hashable, Sendable {
        /// The label names.
        let labels: [String]
        /// The label values.
        let values: [String]
    }

    /// One metric's series.
    struct Family: Sendable {
        /// What it measures.
        let kind: MetricKind
        /// What it measures, in words.
        var help: String
        /// The values of counters and gauges.
        var values: [Series: Double] = [:]
        /// The values of histograms.
        var histograms: [Series: DurationHistogram] = [:]
    }

    private struct State: Sendable {
        var families: [String: Family] = [:]
        var dropped = 0
    }

    private let state = Mutex(State())
    private let help: [String: String]

    /// Makes an empty registry.
    ///
    /// - Parameter help: What metrics measure, by their full names; others get a general sentence.
    package init(help: [String: String] = [:]) {
        self.help = help
    }

    /// Adds to a counter or gauge, or sets it.
    func update(_ name: String, _ kind: MetricKind, _ series: Series, _ change: (inout Double) -> Void) {
        state.withLock { state in
            var family = state.families[name] ?? Family(kind: kind, help: help[name] ?? Self.generalHelp(kind))
            let isKnown = family.values[series] != nil
            guard family.kind == kind, isKnown || family.values.count < Self.seriesLimit else {
                state.dropped += 1
                return
            }
            change(&family.values[series, default: 0])
            state.families[name] = family
        }
    }

    /// Counts a duration.
    func record(_ name: String, _ series: Series, microseconds: Int) {
        state.withLock { state in
            var family =
                state.families[name] ?? Family(kind: .histogram, help: help[name] ?? Self.generalHelp(.histogram))
            let isKnown = family.histograms[series] != nil
            guard family.kind == .histogram, isKnown || family.histograms.count < Self.seriesLimit else {
                state.dropped += 1
                return
            }
            family.histograms[series, default: DurationHistogram(.request)].record(microseconds: microseconds)
            state.families[name] = family
        }
    }

    /// Forgets a series.
    func remove(_ name: String, _ series: Series) {
        state.withLock { state in
            state.families[name]?.values[series] = nil
            state.families[name]?.histograms[series] = nil
        }
    }

    /// Writes all families by name.
    func write(to text: inout MetricsText) {
        let (families, dropped) = state.withLock { ($0.families, $0.dropped) }
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text.family(name, family.kind, family.help)
            for (series, value) in family.values.sorted(by: { Self.precedes($0.key, $1.key) }) {
                text.sample(name, Self.pairs(series), value)
            }
            for (series, histogram) in family.histograms.sorted(by: { Self.precedes($0.key, $1.key) }) {
                text.sample(name, Self.pairs(series), histogram)
            }
        }
        text.family("martlet_metrics_dropped_total", .counter, "Measurements without a place in a family.")
        text.sample("martlet_metrics_dropped_total", [], dropped)
    }

    private static func precedes(_ left: Series, _ right: Series) -> Bool {
        left.values.lexicographicallyPrecedes(right.values)
    }

    private static func pairs(_ series: Series) -> [(String, String)] { Array(zip(series.labels, series.values)) }

    private static func generalHelp(_ kind: MetricKind) -> String { "A \(kind.rawValue) of this worker." }
}

/// The swift-metrics side: labels become names beginning with `martlet_`, counters end in `_total`, timers are
/// histograms in seconds.
extension MetricsRegistry: MetricsFactory {
    /// Makes a counter.
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        RegistryCounter(RegistryTarget(self, Self.name(label, suffix: "_total"), dimensions))
    }

    /// Makes a gauge.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        RegistryGauge(RegistryTarget(self, Self.name(label, suffix: ""), dimensions))
    }

    /// Makes a gauge that shows the last recorded value: this backend keeps no distributions but durations.
    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        RegistryGauge(RegistryTarget(self, Self.name(label, suffix: ""), dimensions))
    }

    /// Makes a histogram of durations.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        RegistryTimer(RegistryTarget(self, Self.name(label, suffix: "_seconds"), dimensions))
    }

    /// Forgets a counter's series.
    package func destroyCounter(_ handler: any CounterHandler) { (handler as? RegistryCounter)?.target.forget() }

    /// Forgets a gauge's series.
    package func destroyMeter(_ handler: any MeterHandler) { (handler as? RegistryGauge)?.target.forget() }

    /// Forgets a gauge's series.
    package func destroyRecorder(_ handler: any RecorderHandler) { (handler as? RegistryGauge)?.target.forget() }

    /// Forgets a histogram's series.
    package func destroyTimer(_ handler: any TimerHandler) { (handler as? RegistryTimer)?.target.forget() }

    /// A legal metric name: prefix, only letters, digits and `_`, and the suffix once.
    static func name(_ label: String, suffix: String) -> String {
        var name = ""
        for byte in label.utf8 {
            let isLegal = byte.isAlphanumeric || byte == UInt8(ascii: "_")
            name.unicodeScalars.append(isLegal ? UnicodeScalar(byte) : "_")
        }
        if !name.hasPrefix("martlet_") { name = "martlet_" + name }
        return name.hasSuffix(suffix) ? name : name + suffix
    }
}
