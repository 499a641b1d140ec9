/// Writes metrics in Prometheus' text format 0.0.4: one family after another, each with its help and type.
struct MetricsText {
    /// What a metric measures, as Prometheus names it.
    ///
    /// [Exposition formats](https://prometheus.io/docs/instrumenting/exposition_formats/)
    enum Kind: String, Sendable {
        /// A number that only grows; a number that goes up and down; durations in buckets.
        case counter, gauge, histogram
    }

    /// The text so far, in UTF-8.
    private(set) var bytes: [UInt8] = []

    /// The content type of the text.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        append("# HELP \(name) \(Self.escaped(help, quote: false))\n# TYPE \(name) \(kind.rawValue)\n")
    }

    /// Writes a whole number.
    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Int) {
        append("\(name)\(Self.text(labels)) \(value)\n")
    }

    /// Writes a number; NaN and infinities as Prometheus spells them.
    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        let text = value.isNaN ? "NaN" : value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : "\(value)"
        append("\(name)\(Self.text(labels)) \(text)\n")
    }

    /// Writes a histogram's buckets, sum and count, in seconds.
    mutating func sample(_ name: String, _ labels: [(String, String)], _ histogram: DurationHistogram) {
        var cumulated = 0
        for (index, bound) in histogram.scale.microseconds.enumerated() {
            cumulated += histogram[index]
            sample("\(name)_bucket", labels + [("le", "\(Double(bound) / 1_000_000)")], cumulated)
        }
        sample("\(name)_bucket", labels + [("le", "+Inf")], histogram.count)
        sample("\(name)_sum", labels, Double(histogram.sumMicroseconds) / 1_000_000)
        sample("\(name)_count", labels, histogram.count)
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private static func text(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{\(labels.map { "\($0.0)=\"\(escaped($0.1, quote: true))\"" }.joined(separator: ","))}"
    }

    private static func escaped(_ text: String, quote: Bool) -> String {
        guard text.utf8.contains(where: { $0 == 0x5c || $0 == 0x0a || $0 == 0x22 }) else { return text }
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quote: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
