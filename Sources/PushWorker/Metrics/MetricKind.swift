/// What a metric measures, as Prometheus names it.
///
/// [Exposition formats](https://prometheus.io/docs/instrumenting/exposition_formats/)
enum MetricKind: String, Sendable {
    /// A number that only grows; a number that goes up and down; durations in buckets.
    case counter, gauge, histogram
}
