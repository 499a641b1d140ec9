import Glibc
import Rig
import Text
import Topology

/// Reads results from a broker, prints those that pass, and counts them.
struct ResultReader {
    private let filter: ResultFilter
    private let limit: Int?
    private let format: OutputFormat
    private let onlySummary: Bool
    private var summary = ResultSummary()
    /// Shows the counts while they grow.
    private var progress = ProgressLine(enabled: true)

    /// Prepares a reader.
    ///
    /// - Parameters:
    ///   - filter: Chooses the results.
    ///   - limit: The number of results after which reading ends; nil for no limit.
    ///   - format: How to print them.
    ///   - onlySummary: Whether to count without printing.
    init(filter: ResultFilter, limit: Int?, format: OutputFormat, onlySummary: Bool) {
        self.filter = filter
        self.limit = limit
        self.format = format
        self.onlySummary = onlySummary
    }

    /// The most copies that wait for a slow reader. Beyond that the broker drops the oldest.
    private static let tapLength = 10_000

    private var isComplete: Bool { limit.map { summary.total >= $0 } ?? false }

    /// Shows copies of results as they come.
    mutating func follow(_ link: CommandConnection, for length: Duration?) throws(CommandFailure) {
        let queue = TopologyNames.tapQueue(user: link.user, id: JobIdentifier.new())
        try link.declareExclusive(queue, maximumLength: Self.tapLength)
        for key in filter.bindingKeys { try link.bind(queue, to: TopologyNames.results, key: key) }
        try link.consume(queue, prefetch: 1000)
        Console.talk("Following results; end with Ctrl-C.")
        let deadline = length.map { ContinuousClock.now.advanced(by: $0) }
        while !Interrupt.isRequested && !isComplete {
            guard let wait = Self.patience(until: deadline) else { return }
            guard let message = try link.next(timeout: wait) else {
                try Console.flush()
                continue
            }
            try link.acknowledge(message, upToHere: true)
            for result in ReceivedResult.read(message) where filter.passes(result.record) && !isComplete {
                show(result)
            }
            if let failure = Console.failure { throw failure }
        }
    }

    /// Takes results out of a queue, as many messages as it holds now: new results must not keep the command from ending.
    /// Each result is printed, or with `--summary` counted, before its message is acknowledged. So no result can be lost
    /// that was not told.
    ///
    /// - Throws: `gaveUp` where messages were not read; what ended the link; `outputFailed`, `readerGone`.
    mutating func drain(_ link: CommandConnection, queue: String, for length: Duration?) throws(CommandFailure) {
        var reading = QueueReading(
            queue: queue, waiting: try link.messageCount(queue), noun: "messages", time: length)
        var excluded = 0
        do throws(CommandFailure) {
            try reading.run(
                over: link, isEnough: { isComplete },
                take: { message throws(CommandFailure) in
                    let results = ReceivedResult.read(message)
                    // A message is taken whole or not at all.
                    guard !results.isEmpty, results.allSatisfy({ filter.passes($0.record) }) else {
                        excluded += 1
                        return
                    }
                    for result in results { show(result) }
                    try Console.flush()
                    try link.acknowledge(message, upToHere: false)
                })
        } catch {
            try? link.stopConsuming()
            throw error
        }
        try link.stopConsuming()
        // Messages that were not acknowledged go back when the link is closed.
        if excluded > 0 {
            Console.talk(
                "\(TimeText.count(excluded)) messages are not results or do not pass the filter; they go back to \(queue)."
            )
        }
        try reading.finish("the rest stays there")
    }

    /// Prints the counts, if they were asked for.
    ///
    /// - Throws: `outputFailed`, after printing the counts on standard error, because the results that they count may
    ///   be gone from their queue; `readerGone`.
    mutating func printSummary() throws(CommandFailure) {
        guard onlySummary else { return }
        progress.clear()
        switch format {
        case .text: summary.lines.forEach(Console.data)
        case .json: Console.data(summary.json.bytes)
        }
        do throws(CommandFailure) {
            try Console.flush()
        } catch {
            if error.status == .outputFailed { summary.lines.forEach(Console.talk) }
            throw error
        }
    }

    private mutating func show(_ result: ReceivedResult) {
        summary.add(result.record)
        guard !onlySummary else { return progress.show("  \(summary.shortLine)") }
        switch format {
        case .text: result.record.print()
        case .json: Console.data(result.line)
        }
    }

    /// How long to wait for the next copy: at most 0.2 s, to notice Ctrl-C soon; nil once the time is up.
    private static func patience(until deadline: ContinuousClock.Instant?) -> Duration? {
        guard let deadline else { return .milliseconds(200) }
        let left = ContinuousClock.now.duration(to: deadline)
        return left > .zero ? min(left, .milliseconds(200)) : nil
    }
}
