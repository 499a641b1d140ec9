import ArgumentParser
import EventLoop
import Glibc
import PushModel
import RabbitMQ
import Topology

/// `martlet status`: shows the state of the whole fleet, and what to do next.
struct StatusCommand: AsyncParsableCommand, UsesContext {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show queues, workers, routes, rates and dead letters of the whole fleet, and what to do next.",
        discussion: """
            Changes nothing. Queues and nodes come from RabbitMQ's management API, workers and routes from the reports \
            that each worker writes every 2 to 10 s into the stream \(TopologyNames.fleetQueue), and what operators \
            asked of all workers from the stream \(TopologyNames.controlQueue). Without --config the broker is found as \
            by martlet results.

            Dead letters are counted by queue. Their reasons are in the letters: --reasons reads all of them, as martlet \
            dead list does, which counts as a delivery of each and takes a while where there are many.

            The exit status is 1 if anything needs a person.

            Examples:
              martlet status --config martlet.yaml
              martlet status --config martlet.yaml --watch
              martlet status --broker amqp://user@broker.example --output json
            """)

    /// How often `--watch` draws the status.
    private static let interval = Duration.seconds(2)
    /// How long the first drawing waits for reports and commands.
    private static let patience = Duration.seconds(5)

    @OptionGroup var place: StatusPlaceOptions
    @Flag(help: "Redraw it every two seconds, until Ctrl-C. Needs a terminal.") var watch = false
    @Flag(help: "Count the dead letters by reason: reads all of them.") var reasons = false
    @Flag(help: "Show every row of every table.") var all = false
    @OptionGroup var format: OutputOptions

    var namedBroker: String? { place.broker.broker }
    var namedConfiguration: String? { place.source.config }

    func validate() throws {
        if watch, format.output == .json { throw ValidationError("--watch draws text. For JSON, ask again and again.") }
        if watch, reasons { throw ValidationError("--reasons reads every dead letter: not every two seconds.") }
    }

    func run() async throws {
        if watch, !Console.isTerminal(STDOUT_FILENO) {
            throw CommandFailure(
                .usage, "--watch draws on a terminal, and standard output is not one",
                remedy: "Leave --watch away, or use --output json.")
        }
        let place = try place.open()
        guard !watch else { return try await follow(place) }
        let letters = reasons ? try await BlockingWork.run("letters") { try place.letters() } : nil
        let facts = try await Self.settled {
            async let commands: Void = BlockingWork.run("commands") { place.control.readOnce() }
            try await BlockingWork.run("reports") { place.reader.readOnce() }
            try await commands
            return try await place.facts(letters: letters)
        }
        let findings = StatusDiagnosis(facts: facts).findings
        switch format.output {
        case .text:
            let colour = Console.isTerminal(STDOUT_FILENO) && Console.allowsColour
            let text = StatusText(facts: facts, findings: findings, colour: colour, showsAll: all)
            for line in text.lines { Console.data(Array(line.utf8)) }
        case .json: Console.data(facts.json(findings).bytes)
        }
        if !findings.isEmpty { throw CommandStatus.someFailed }
    }

    /// What there is to know. In the first seconds of a node its queues are missing or have no leader, so an alarm about
    /// that is looked at again.
    ///
    /// - Parameters:
    ///   - pause: Waits a second between two looks, for as long as a node may be young.
    ///   - look: Asks for all of it.
    static func settled(
        pause: () async throws -> Void = { try await Task.sleep(for: .seconds(1)) },
        look: () async throws -> StatusFacts
    ) async throws -> StatusFacts {
        for _ in 0..<StatusDiagnosis.settling.components.seconds {
            let facts = try await look()
            guard StatusDiagnosis(facts: facts).maySettle else { return facts }
            try await pause()
        }
        return try await look()
    }

    /// Draws until Ctrl-C, from when reports and commands were read. If the management API fails, it draws the failure,
    /// and asks again at the next time.
    private func follow(_ place: StatusSource) async throws {
        // A single status has nothing to finish: the first signal ends it.
        Interrupt.watch()
        var screen = StatusScreen()
        // If standard output fails, nobody waits for this task: it ends with the process.
        let reading = Task { try await BlockingWork.run("reports") { place.reader.follow() } }
        let listening = Task { try await BlockingWork.run("commands") { place.control.follow() } }
        let latest = ContinuousClock.now.advanced(by: Self.patience)
        while !Interrupt.isRequested, place.isCatchingUp, ContinuousClock.now < latest {
            try await Task.sleep(for: .milliseconds(50))
        }
        while !Interrupt.isRequested {
            let lines: [String]
            do throws(CommandFailure) {
                let facts = try await place.facts()
                lines =
                    StatusText(
                        facts: facts, findings: StatusDiagnosis(facts: facts).findings, width: StatusScreen.width,
                        colour: Console.allowsColour, showsAll: all
                    ).lines
            } catch {
                lines = "\(error)".split(separator: "\n").map { String($0).printable }
            }
            screen.draw(lines)
            if let failure = Console.failure { throw failure }
            let next = ContinuousClock.now.advanced(by: Self.interval)
            while !Interrupt.isRequested, ContinuousClock.now < next { try await Task.sleep(for: .milliseconds(100)) }
        }
        try await reading.value
        try await listening.value
    }
}
