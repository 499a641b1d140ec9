/// What a metric measures, as Prometheus names it.
///
/// [Exposition formats](https://prometheus.io/docs/instrumenting/exposition_formats/)
enum MetricKind: String, Sendable {
    /// What only grows, what goes up and down, and durations in buckets.
    case counter, gauge, histogram
}
