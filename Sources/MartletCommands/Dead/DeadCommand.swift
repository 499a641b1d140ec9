import ArgumentParser
import EventLoop
import Rig
import Text
import Topology

/// `martlet dead`: looks at the letters of jobs that failed for good, replays them and deletes them.
struct DeadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract:
            "Look at dead letters, publish them again, delete them: jobs that failed for good, as they were published.",
        discussion: """
            `replay` publishes letters again as jobs, and `purge` deletes them. `tokens` exports the device tokens that \
            APNs calls dead. `list` and `show` only look.

            Looking changes nothing but the broker's count of deliveries; queues of jobs on their way are not looked \
            at, for there it would. All letters are taken without acknowledgement and put back together at the end, so \
            that none is lost even if this command is killed; other readers of the queue wait that long.

            Examples:
              martlet dead list
              martlet dead list --reason BadTopic -o json
              martlet dead show 0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90
              martlet dead replay --outcome exhausted --dry-run
              martlet dead purge --older-than 14d
              martlet dead tokens --export -o json --older-than 1h
            """,
        subcommands: [List.self, Show.self, Replay.self, Purge.self, Tokens.self], defaultSubcommand: List.self)

    /// Where dead letters are, and which of them to look at.
    struct Selection: ParsableArguments {
        @Flag(help: "Look at the letters of dead tokens instead.") var tokens = false
        @Option(
            help: """
                Look at another queue, where each look may count as a delivery. (default: \(TopologyNames.deadQueue))
                """)
        var queue: String?
        @Option(help: "Only this outcome, for example rejected; may be repeated.") var outcome: [String] = []
        @OptionGroup var filter: LetterFilter

        /// The name of the queue.
        var name: String { queue ?? (tokens ? TopologyNames.deadTokensQueue : TopologyNames.deadQueue) }

        func validate() throws {
            if let mistake = CommandConnection.mistake(lookingAt: name) { throw ValidationError(mistake) }
            if tokens && queue != nil { throw ValidationError("--tokens already names a queue.") }
        }

        /// Makes sure that a command which changes the queue was told which letters to change.
        ///
        /// - Parameter all: Whether the command line says `--all`.
        func requireChoice(all: Bool) throws {
            if isEverything, !all { throw ValidationError("Say which letters: by a filter, or --all.") }
            if !isEverything, all { throw ValidationError("--all takes no filter.") }
        }

        private var isEverything: Bool { outcome.isEmpty && filter.isEverything }

        /// Whether a letter is wanted.
        ///
        /// - Parameters:
        ///   - letter: The letter.
        ///   - routes: The routes that the filter wants; nil for all.
        ///   - now: Milliseconds since 1970.
        func admits(_ letter: DeadLetter, of routes: LetterRoutes?, now: Int64) -> Bool {
            (outcome.isEmpty || outcome.contains(where: letter.has(outcome:)))
                && filter.admits(letter, of: routes, now: now)
        }
    }

    /// `martlet dead list`.
    struct List: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(abstract: "One line per dead letter, oldest first.")

        @OptionGroup var selection: Selection
        @Option(help: "Show no more letters than this, oldest first; all of them are read.") var limit = 1000
        @OptionGroup(title: "Broker") var broker: BrokerOptions
        @OptionGroup var format: OutputOptions

        var namedBroker: String? { broker.broker }

        func validate() throws {
            // All lines are in memory before the first one is printed.
            if !(1...100_000).contains(limit) { throw ValidationError("--limit must be between 1 and 100000.") }
        }

        func run() throws {
            // Keeps the lines instead of the letters: bodies would take most of the memory.
            var oldest = OldestLetters<[UInt8]>(limit: limit)
            let reading = try DeadCommand.look(selection, broker) { letter in
                oldest.offer(
                    format.output == .text ? Array(letter.line.utf8) : letter.json(withBody: false).bytes,
                    diedAt: letter.diedAt)
            }
            let lines = oldest.letters
            for line in lines {
                if format.output == .text {
                    Console.data(String(decoding: line, as: UTF8.self))
                } else {
                    Console.data(line)
                }
                if let failure = Console.failure { throw failure }
            }
            try Console.flush()
            let hidden = oldest.offered - lines.count
            let more = hidden > 0 ? "; \(TimeText.count(hidden)) more match (--limit)" : ""
            Console.talk(
                "\(TimeText.count(lines.count)) of \(TimeText.count(reading.seen)) dead letters in "
                    + "\(selection.name)\(more)")
            try reading.finish("this list lacks the newest")
        }
    }

    /// `martlet dead show`.
    struct Show: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Everything about the dead letters of one job, with its device tokens and payload.")

        @Argument(help: "The job id, or how it begins.") var id: String
        @OptionGroup var selection: Selection
        @OptionGroup(title: "Broker") var broker: BrokerOptions
        @OptionGroup var format: OutputOptions

        var namedBroker: String? { broker.broker }

        func run() throws {
            var shown = 0
            let reading = try DeadCommand.look(selection, broker) { letter in
                guard letter.hasID(beginningWith: id) else { return }
                if shown > 0 && format.output == .text { Console.data("") }
                shown += 1
                switch format.output {
                case .text: letter.fullText.forEach(Console.data)
                case .json: Console.data(letter.json(withBody: true).bytes)
                }
            }
            if shown == 0, let failure = reading.failure("none of these is of \(id)") { throw failure }
            guard shown > 0 else {
                throw CommandFailure(
                    .someFailed, "no dead letter of \(id) in \(selection.name)",
                    remedy: selection.name == TopologyNames.deadQueue
                        ? "List them with: martlet dead list. Letters of dead device tokens need --tokens." : nil)
            }
            try reading.finish("there may be more of \(id)")
        }
    }

    /// Looks at all letters of a queue without changing it.
    ///
    /// - Parameters:
    ///   - selection: Which queue and which letters.
    ///   - broker: Where the broker is.
    ///   - show: What to do with each letter that is wanted.
    /// - Returns: Whether all letters were looked at.
    static func look(
        _ selection: Selection, _ broker: BrokerOptions, show: (DeadLetter) -> Void
    ) throws(CommandFailure) -> QueueReading {
        let link = try CommandConnection.open(broker.target)
        // Closing the link puts all letters back.
        defer { link.close() }
        return try read(selection, link) { letter throws(CommandFailure) in show(letter) }
    }

    /// Takes the letters of a selection, and settles none of them.
    ///
    /// - Parameters:
    ///   - selection: Which queue and which letters.
    ///   - link: The connection. When it is closed, the letters that are not acknowledged by then go back.
    ///   - take: What to do with each letter that is wanted.
    /// - Returns: Whether all letters were looked at.
    static func read(
        _ selection: Selection, _ link: CommandConnection, take: (DeadLetter) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> QueueReading {
        Interrupt.watch()
        let (now, routes) = (JobIdentifier.now(), try selection.filter.routes())
        return try read(selection.name, over: link) { letter throws(CommandFailure) in
            if selection.admits(letter, of: routes, now: now) { try take(letter) }
        }
    }

    /// Takes all letters that a queue holds at this moment, and settles none of them, as ``QueueReading`` does.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - link: A connection that consumes nothing else.
    ///   - take: What to do with each letter.
    /// - Returns: Whether all letters were looked at.
    static func read(
        _ queue: String, over link: CommandConnection, take: (DeadLetter) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> QueueReading {
        var reading = QueueReading(queue: queue, waiting: try link.messageCount(queue))
        let provesDeaths = link.provesDeaths
        try reading.run(over: link) { message throws(CommandFailure) in
            try take(DeadLetter(message: message, provesDeaths: provesDeaths))
        }
        return reading
    }
}
