import Histogram
import PushModel
import Rig
import Text

/// What happened in a demo, in words and as JSON: pure.
struct DemoReport {
    /// Percentiles of durations, in milliseconds.
    struct Times: Equatable {
        var p50: Int64 = 0
        var p90: Int64 = 0
        var p99: Int64 = 0
        var max: Int64 = 0

        /// Reads them from a histogram.
        init(_ histogram: Histogram<UInt64>) {
            guard histogram.totalCount > 0 else { return }
            p50 = Int64(clamping: histogram.valueAtPercentile(50))
            p90 = Int64(clamping: histogram.valueAtPercentile(90))
            p99 = Int64(clamping: histogram.valueAtPercentile(99))
            max = Int64(clamping: histogram.max)
        }

        fileprivate var text: String {
            "p50 \(TimeText.length(p50)), p90 \(TimeText.length(p90)), p99 \(TimeText.length(p99)), "
                + "max \(TimeText.length(max))"
        }

        fileprivate var json: JSON {
            .object([("p50", .integer(p50)), ("p90", .integer(p90)), ("p99", .integer(p99)), ("max", .integer(max))])
        }
    }

    /// How many lines a list of single notifications has at most.
    static let listLimit = 10
    /// The columns of a line: what the smallest usual terminal shows.
    static let width = 79

    /// The seed that chose the jobs.
    var seed: UInt64
    /// How many jobs the broker took.
    var jobs: Int
    /// How many jobs it refused.
    var refused: Int
    /// The worker that was killed.
    var killedWorker: String?
    /// The account of results and dead letters.
    var state: RunAudit.State
    /// How the ledgers of the producers, APNs and the results compare.
    var balance: RunLedger.Balance
    /// How many messages each dead-letter queue holds.
    var deadLetters: [String: Int]
    /// The accounts of the devices.
    var devices: [DemoDeviceAccount] = []

    /// Whether everything is final and explained.
    var isClean: Bool {
        balance.isClean && state.ledger.open == 0 && refused == 0 && state.failure == nil
            && devices.allSatisfy(\.isClean)
    }

    /// Final reports per second, from the first to the last notification that needed one attempt. Retries do not count,
    /// because they wait on purpose.
    var throughput: Int {
        guard let span = state.firstAttemptSpan, span.upperBound > span.lowerBound else { return state.firstAttempts }
        return state.firstAttempts * 1_000 / Int(span.upperBound -| span.lowerBound)
    }

    /// The report for people. Without complaints it fits a terminal of 24 lines with 80 columns, the verdict last.
    ///
    /// - Parameter colour: Whether escape sequences may be used.
    func lines(colour: Bool) -> [String] {
        let promises = state.ledger.promises
        var lines = [
            "", "What happened to \(TimeText.count(promises)) notifications of \(TimeText.count(jobs)) jobs", "",
        ]
        lines += outcomeLines
        lines.append("")
        lines.append("  latency        \(Times(state.latency).text)")
        lines.append("  APNs           \(Times(state.answers).text)")
        lines.append("  throughput     \(TimeText.count(throughput)) notifications/s, of those that needed no retry")
        let dead = deadLetters.sorted { $0.key < $1.key }.map { "\($0.key) \(TimeText.count($0.value))" }
        lines.append("  dead letters   \(dead.isEmpty ? "none" : dead.joined(separator: ", "))")
        lines += duplicateLines
        lines += Self.wrapped("devices", DemoDeviceAccount.words(devices))
        if let failure = state.failure { lines.append("  not read       \(failure)") }
        if refused > 0 { lines.append("  refused        \(TimeText.count(refused)) jobs the broker did not take") }
        lines += complaints
        lines.append("")
        let lost = "lost \(TimeText.count(balance.lost.count))"
        let ink = isClean ? Ink.green : Ink.red
        lines.append("  \(colour ? ink(lost) : lost)\(isClean ? "" : "  (not everything is as it should be)")")
        return lines
    }

    /// The report for programs.
    var json: JSON {
        let outcomes = sortedOutcomes.map { kind, count in
            JSON.object([
                ("outcome", .text(kind.outcome)), ("status", .optional(kind.status.map(Int64.init))),
                ("reason", .optional(kind.reason)), ("count", .integer(Int64(count))),
            ])
        }
        let dead = deadLetters.sorted { $0.key < $1.key }.map { ($0.key, JSON.integer(Int64($0.value))) }
        let findings = balance.findings.map { ($0.name, JSON.integer(Int64($0.names.count))) }
        let members: [(String, JSON)] = [
            ("seed", .text(String(seed))), ("jobs", .integer(Int64(jobs))), ("refused", .integer(Int64(refused))),
            ("notifications", .integer(Int64(state.ledger.promises))), ("outcomes", .array(outcomes)),
            ("latency_ms", Times(state.latency).json), ("apns_ms", Times(state.answers).json),
            ("throughput", .integer(Int64(throughput))), ("dead_letters", .object(dead)),
            ("devices", .array(devices.map(\.json))),
            ("killed_worker", .optional(killedWorker)), ("redelivered_results", .integer(Int64(state.redelivered))),
            ("explained_duplicates", .integer(Int64(balance.explainedDuplicates))),
        ]
        return .object(members + findings + [("clean", .boolean(isClean))])
    }

    private var sortedOutcomes: [(key: ResultRecord.Kind, value: Int)] {
        state.outcomes.sorted { left, right in
            left.value != right.value
                ? left.value > right.value
                : (left.key.outcome, left.key.reason ?? "") < (right.key.outcome, right.key.reason ?? "")
        }
    }

    /// One line for each outcome, the most frequent first, with as many of its reasons as fit.
    private var outcomeLines: [String] {
        let total = max(1, state.outcomes.values.reduce(0, +))
        let groups = Dictionary(grouping: sortedOutcomes) { $0.key.outcome }.map { outcome, kinds in
            (outcome: outcome, count: kinds.reduce(0) { $0 + $1.value }, kinds: kinds)
        }
        let sorted = groups.sorted { ($1.count, $0.outcome) < ($0.count, $1.outcome) }
        return ["  outcome     notifications    share  reason"]
            + sorted.map { group in
                let share = "\(group.count * 1_000 / total / 10).\(group.count * 1_000 / total % 10) %"
                let head =
                    "  \(group.outcome.padded(to: 10))  \(TimeText.count(group.count).aligned(to: 13))  "
                    + "\(share.aligned(to: 7))  "
                let reasons = Self.reasons(group.kinds, width: Self.width - head.count)
                return reasons.isEmpty ? String(head.dropLast(2)) : head + reasons
            }
    }

    /// The reasons of an outcome; with a count for each where there are several.
    private static func reasons(_ kinds: [(key: ResultRecord.Kind, value: Int)], width: Int) -> String {
        let words = kinds.map { kind, count in
            let why = [kind.status.map(String.init), kind.reason].compactMap(\.self).joined(separator: " ")
            return kinds.count > 1 ? "\(why.isEmpty ? "no reason" : why) \(TimeText.count(count))" : why
        }
        let text = words.joined(separator: ", ")
        return text.count > width ? "\(text.prefix(max(0, width - 1)))…" : text
    }

    /// Some words behind a label, on as many lines as they need.
    static func wrapped(_ label: String, _ words: [String]) -> [String] {
        var lines: [String] = []
        var line = "  \(label.padded(to: 15))"
        for (index, word) in words.enumerated() {
            let piece = index < words.count - 1 ? "\(word)," : word
            if line.count > 17, line.count + piece.count > width {
                lines.append(String(line.dropLast()))
                line = String(repeating: " ", count: 17)
            }
            line += "\(piece) "
        }
        return words.isEmpty ? [] : lines + [String(line.dropLast())]
    }

    /// Pushes that devices got twice, and why.
    private var duplicateLines: [String] {
        let twice = balance.explainedDuplicates
        // A second push counts as explained only where a result says redelivered.
        guard state.redelivered > 0 else { return ["  duplicates     none"] }
        let what = twice == 0 ? "none pushed twice" : "\(TimeText.count(twice)) pushed twice, all explained"
        let who = killedWorker.map { "\($0) was killed" } ?? "a connection was lost"
        return [
            "  duplicates     \(what): \(who)",
            "                 with jobs in flight; \(TimeText.count(state.redelivered)) results say redelivered",
        ]
    }

    /// Single notifications that spoil the verdict.
    private var complaints: [String] {
        let findings = balance.findings.map { ($0.title, $0.names) }
        return (findings + DemoDeviceAccount.complaints(devices)).filter { !$0.1.isEmpty }.flatMap { title, names in
            let shown = names.sorted().prefix(Self.listLimit)
            return ["", "  \(TimeText.count(names.count)) \(title):"] + shown.map { "    \($0)" }
        }
    }
}
