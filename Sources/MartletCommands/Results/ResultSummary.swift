import Histogram
import Rig
import Text

/// Counts and latencies of many results.
struct ResultSummary {
    /// How many results were counted.
    private(set) var total = 0
    /// How many results came from jobs that the broker had delivered before.
    private(set) var redelivered = 0
    /// How many results there were of each kind.
    private(set) var kinds: [ResultRecord.Kind: Int] = [:]
    /// How many results there were for each topic.
    private(set) var topics: [String: Int] = [:]
    /// The times at which the first and the last notification were finished, in milliseconds since 1970.
    private(set) var span: ClosedRange<Int64>?
    private var apns = ResultSummary.emptyHistogram()
    private var queue = ResultSummary.emptyHistogram()

    /// Counts one result.
    ///
    /// - Parameter record: The result.
    mutating func add(_ record: ResultRecord) {
        total += 1
        if record.redelivered == true { redelivered += 1 }
        kinds[record.kind, default: 0] += 1
        topics[record.topic ?? "-", default: 0] += 1
        if let value = record.apnsMilliseconds, value >= 0 { apns.record(UInt64(value)) }
        if let value = record.queueMilliseconds, value >= 0 { queue.record(UInt64(value)) }
        if let at = record.finishedAt {
            span = span.map { min($0.lowerBound, at)...max($0.upperBound, at) } ?? at...at
        }
    }

    /// How many results there were of one outcome.
    ///
    /// - Parameter outcome: For example `accepted`.
    func count(_ outcome: String) -> Int {
        kinds.filter { $0.key.outcome == outcome }.values.reduce(0, +)
    }

    /// The counts on one line, while they grow.
    var shortLine: String {
        let outcomes = Dictionary(grouping: kinds) { $0.key.outcome }.mapValues { $0.reduce(0) { $0 + $1.value } }
        let parts = outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\($0.key) \(TimeText.count($0.value))"
        }
        return "\(TimeText.count(total)) results  \(parts.joined(separator: "  "))"
    }

    /// The summary as a table for people.
    var lines: [String] {
        guard total > 0 else { return ["no results"] }
        var lines = ["outcome      count    share  reason"]
        for (kind, count) in sortedKinds {
            let share = "\(count * 1000 / total / 10).\(count * 1000 / total % 10) %"
            let why = [kind.status.map(String.init), kind.reason].compactMap(\.self).joined(separator: " ")
            lines.append(
                "\(kind.outcome.padded(to: 10))  \(TimeText.count(count).aligned(to: 7))  \(share.aligned(to: 7))  \(why)"
            )
        }
        lines.append("\("total".padded(to: 10))  \(TimeText.count(total).aligned(to: 7))")
        if redelivered > 0 { lines.append("redelivered \(TimeText.count(redelivered).aligned(to: 7))") }
        for (name, histogram) in [("answer of APNs", apns), ("wait in queue", queue)] where histogram.totalCount > 0 {
            let parts = Self.percentiles.map { label, value in
                "\(label) \(TimeText.length(Int64(histogram.valueAtPercentile(value))))"
            }
            lines.append("\(name): \(parts.joined(separator: ", ")), most \(TimeText.length(Int64(histogram.max)))")
        }
        if let span, span.upperBound > span.lowerBound {
            let length = span.upperBound -| span.lowerBound
            lines.append("finished within \(TimeText.length(length)): \(TimeText.count(total * 1000 / Int(length)))/s")
        }
        return lines
    }

    /// The summary for programs.
    var json: JSON {
        let kinds = sortedKinds.map { kind, count in
            JSON.object([
                ("outcome", .text(kind.outcome)), ("status", .optional(kind.status.map(Int64.init))),
                ("reason", .optional(kind.reason)), ("count", .integer(Int64(count))),
            ])
        }
        let topics = topics.sorted { $0.key < $1.key }.map { ($0.key, JSON.integer(Int64($0.value))) }
        return .object([
            ("total", .integer(Int64(total))), ("redelivered", .integer(Int64(redelivered))),
            ("outcomes", .array(kinds)), ("topics", .object(topics)),
            ("apns_ms", Self.json(apns)), ("queue_ms", Self.json(queue)),
            ("first_finished_at", .optional(span?.lowerBound)), ("last_finished_at", .optional(span?.upperBound)),
        ])
    }

    /// The kinds, most frequent first. Equally frequent ones are in the order of their names, so that output is stable.
    private var sortedKinds: [(key: ResultRecord.Kind, value: Int)] {
        kinds.sorted { left, right in
            left.value != right.value
                ? left.value > right.value
                : (left.key.outcome, left.key.reason ?? "") < (right.key.outcome, right.key.reason ?? "")
        }
    }

    private static let percentiles: [(String, Double)] = [("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9)]

    /// An empty histogram for up to a day in milliseconds, with two significant digits. It takes 20 kB for any number
    /// of results.
    private static func emptyHistogram() -> Histogram<UInt64> {
        Histogram(highestTrackableValue: 86_400_000, numberOfSignificantValueDigits: .two)
    }

    private static func json(_ histogram: Histogram<UInt64>) -> JSON {
        guard histogram.totalCount > 0 else { return .null }
        return .object(
            percentiles.map { ($0, .integer(Int64(histogram.valueAtPercentile($1)))) }
                + [("max", .integer(Int64(histogram.max)))])
    }
}
