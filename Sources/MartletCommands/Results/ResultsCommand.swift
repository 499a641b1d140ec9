import ArgumentParser
import Glibc
import PushModel
import Text
import Topology

/// `martlet results`: shows what became of notifications.
struct ResultsCommand: ParsableCommand, UsesContext {
    static let configuration = CommandConfiguration(
        commandName: "results",
        abstract: "Show what became of notifications: live, or from the results queue.",
        discussion: """
            --follow looks at copies through a queue of its own and takes nothing from anybody; when this command is \
            too slow, the oldest copies are dropped. --drain takes results out of a real queue: what is printed is gone \
            from it, what a filter excludes goes back. Where not all messages could be read, it says how many were, and the \
            exit status is \(CommandStatus.gaveUp.rawValue).

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
    @Option(help: "Only this environment: production or development.") var environment: [APNSEnvironment] = []

    @Flag(help: "Print counts and latencies at the end instead of the results.") var summary = false
    @Option(help: "End after this many results.") var count: Int?
    @Option(help: "End after this time, for example 30s.") var timeout: TimeSpan?
    @Option(help: "The queue that --drain takes from.") var queue = TopologyNames.resultsQueue
    @Flag(help: "Do not ask before --drain takes results away.") var yes = false

    @OptionGroup(title: "Broker") var broker: BrokerOptions
    @OptionGroup var format: OutputOptions

    var namedBroker: String? { broker.broker }

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
        let known = Outcome.allCases.map(\.rawValue)
        if let unknown = outcome.first(where: { !known.contains($0) }) {
            throw ValidationError("--outcome \(unknown.printable) is not one of \(known.joined(separator: ", ")).")
        }
        if mode == .drain, let mistake = CommandConnection.mistake(lookingAt: queue) { throw ValidationError(mistake) }
        if mode == .follow && yes { throw ValidationError("--yes belongs to --drain; --follow takes nothing away.") }
    }

    func run() throws {
        let link = try CommandConnection.open(broker.target)
        defer { link.close() }
        // When the reader of the output goes away, draining must end in good order: written results count as taken.
        if mode == .drain { signal(SIGPIPE, SIG_IGN) }
        var reader = ResultReader(filter: filter, limit: count, format: format.output, onlySummary: summary)
        if mode == .drain, !yes {
            let waiting = try link.messageCount(queue)
            if waiting > 0 { try Console.confirm("Take up to \(TimeText.count(waiting)) results out of \(queue)?") }
        }
        Interrupt.watch()
        do throws(CommandFailure) {
            switch mode {
            case .follow: try reader.follow(link, for: timeout?.duration)
            case .drain: try reader.drain(link, queue: queue, for: timeout?.duration)
            }
        } catch {
            // What was counted may be gone from its queue.
            try? reader.printSummary()
            throw error
        }
        try reader.printSummary()
    }

    /// The filter that the options describe.
    var filter: ResultFilter {
        ResultFilter(outcomes: outcome, reasons: reason, topics: topic, environments: environment.map(\.rawValue))
    }
}
