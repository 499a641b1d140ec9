import ArgumentParser
import Glibc
import PushModel

/// `martlet results`: what became of notifications.
struct ResultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results",
        abstract: "Show what became of notifications: live, or from the results queue.",
        discussion: """
            --follow looks at copies through a queue of its own and takes nothing from anybody; when this command is \
            too slow, the oldest copies are dropped. --drain takes results out of a real queue: what is printed is gone \
            from it, what a filter excludes goes back.

            Examples:
              martlet results --follow
              martlet results --outcome rejected --outcome dead_token -o json
              martlet results --follow --timeout 60s --summary
              martlet results --drain --yes -o json > results.jsonl
            """)

    /// Where results are read.
    enum Mode: String, EnumerableFlag {
        /// Copies, from now on.
        case follow
        /// The real queue, until it is empty.
        case drain

        static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .follow: "Show results as they come, until Ctrl-C. Steals nothing. (default)"
            case .drain: "Take results out of a queue until it is empty."
            }
        }
    }

    @Flag(exclusivity: .exclusive) var mode: Mode = .follow

    @Option(help: "Only this outcome, for example rejected; may be repeated.") var outcome: [String] = []
    @Option(help: "Only this reason, for example BadTopic; may be repeated.") var reason: [String] = []
    @Option(help: "Only this topic; may be repeated.") var topic: [String] = []
    @Option(help: "Only this environment: production or development.") var environment: [EnvironmentName] = []

    @Flag(help: "Print counts and latencies at the end instead of the results.") var summary = false
    @Option(help: "End after this many results.") var count: Int?
    @Option(help: "End after this time, for example 30s.") var timeout: TimeSpan?
    @Option(help: "The queue that --drain takes from.") var queue = "apns.q.results"
    @Flag(help: "Do not ask before --drain takes results away.") var yes = false

    @OptionGroup(title: "Broker") var broker: BrokerOptions
    @OptionGroup var format: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
        let known = Outcome.allCases.map(\.rawValue)
        if let unknown = outcome.first(where: { !known.contains($0) }) {
            throw ValidationError("--outcome \(unknown.printable) is not one of \(known.joined(separator: ", ")).")
        }
        if mode == .drain, let mistake = BrokerLink.mistake(lookingAt: queue) { throw ValidationError(mistake) }
        if mode == .follow && yes { throw ValidationError("--yes belongs to --drain; --follow takes nothing away.") }
    }

    func run() throws {
        let link = try BrokerLink.open(broker.target)
        defer { link.close() }
        // Draining ends in an orderly way when its reader goes away: what was written counts as taken.
        if mode == .drain { signal(SIGPIPE, SIG_IGN) }
        var reader = ResultReader(filter: filter, limit: count, format: format.output, onlySummary: summary)
        Interrupt.watch()
        switch mode {
        case .follow: try reader.follow(link, for: timeout?.duration)
        case .drain:
            let waiting = try link.messageCount(queue)
            if !yes && waiting > 0 {
                try Console.confirm("Take up to \(TimeText.count(waiting)) results out of \(queue)?")
            }
            try reader.drain(link, queue: queue, for: timeout?.duration)
        }
        try reader.printSummary()
    }

    /// What the options let pass.
    var filter: ResultFilter {
        ResultFilter(outcomes: outcome, reasons: reason, topics: topic, environments: environment.map(\.rawValue))
    }
}

/// Reads results from a broker, prints those that pass, and counts them.
struct ResultReader {
    private let filter: ResultFilter
    private let limit: Int?
    private let format: OutputFormat
    private let onlySummary: Bool
    private var summary = ResultSummary()

    /// Prepares a reader.
    /// - Parameters:
    ///   - filter: What passes.
    ///   - limit: After how many results it ends.
    ///   - format: How to print them.
    ///   - onlySummary: Whether to count without printing.
    init(filter: ResultFilter, limit: Int?, format: OutputFormat, onlySummary: Bool) {
        self.filter = filter
        self.limit = limit
        self.format = format
        self.onlySummary = onlySummary
    }

    /// How many copies wait at most for a slow reader.
    private static let tapLength = 10_000

    private var isComplete: Bool { limit.map { summary.total >= $0 } ?? false }

    /// Shows copies of results as they come.
    mutating func follow(_ link: BrokerLink, for length: Duration?) throws(CommandFailure) {
        let queue = "apns.q.tap.\(link.user).\(JobIdentifier.new())"
        try link.declareExclusive(queue, maximumLength: Self.tapLength)
        for key in filter.bindingKeys { try link.bind(queue, to: "apns.results", key: key) }
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
            if let record = ResultRecord.parse(message.body), filter.passes(record) { show(record, message) }
            if let failure = Console.failure { throw failure }
        }
    }

    /// Takes results out of a queue; each is printed before it is acknowledged, so that none can be lost.
    mutating func drain(_ link: BrokerLink, queue: String, for length: Duration?) throws(CommandFailure) {
        let deadline = length.map { ContinuousClock.now.advanced(by: $0) }
        // Only as many are taken as there are now: results that keep coming must not keep the command from ending.
        let left = try link.messageCount(queue)
        // As many unsettled as can be: what goes back at the end would otherwise fill that and stop the rest.
        try link.consume(queue, prefetch: Int(UInt16.max))
        var excluded = 0
        do throws(CommandFailure) {
            excluded = try take(link, left, until: deadline)
        } catch {
            try? link.stopConsuming()
            throw error
        }
        try link.stopConsuming()
        // What was not acknowledged goes back when the link is closed.
        if excluded > 0 {
            Console.talk(
                "\(TimeText.count(excluded)) messages are not results or do not pass the filter; they go back to \(queue)."
            )
        }
    }

    /// Takes what passes; returns how many messages did not.
    private mutating func take(
        _ link: BrokerLink, _ count: Int, until deadline: ContinuousClock.Instant?
    ) throws(CommandFailure) -> Int {
        var left = count
        var excluded = 0
        while left > 0 && !Interrupt.isRequested && !isComplete && Self.patience(until: deadline) != nil {
            guard let message = try link.next(timeout: .seconds(2)) else { break }
            left -= 1
            guard let record = ResultRecord.parse(message.body), filter.passes(record) else {
                excluded += 1
                continue
            }
            show(record, message)
            try Console.flush()
            try link.acknowledge(message, upToHere: false)
        }
        return excluded
    }

    /// Prints the counts, if they were asked for.
    /// - Throws: `outputFailed`, after telling them on standard error: what they count may be gone from its queue.
    func printSummary() throws(CommandFailure) {
        guard onlySummary else { return }
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

    private mutating func show(_ record: ResultRecord, _ message: BrokerMessage) {
        summary.add(record)
        guard !onlySummary else { return }
        switch format {
        case .text: Console.data(record.line)
        case .json: Console.data(message.body)
        }
    }

    /// How long to wait for the next message: short enough to notice Ctrl-C; `nil` once the time is up.
    private static func patience(until deadline: ContinuousClock.Instant?) -> Duration? {
        guard let deadline else { return .milliseconds(200) }
        let left = ContinuousClock.now.duration(to: deadline)
        return left > .zero ? min(left, .milliseconds(200)) : nil
    }
}
