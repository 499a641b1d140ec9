import ArgumentParser
import Glibc
import LocalStack
import Logging
import UnixSignals

/// `martlet demo`: runs broker, APNs, devices and workers together, and compares their numbers at the end.
struct DemoCommand: AsyncParsableCommand {
    /// How the command presents itself.
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract:
            "See it work: a broker, a local APNs, devices and workers, thousands of jobs, and a worker killed half way.",
        usage: """
            martlet demo
            martlet demo --jobs 100000
            martlet demo --keep
            """,
        discussion: """
            Starts a RabbitMQ of its own (own directory, free ports, loopback only), the simulator, two workers and \
            six devices; publishes jobs of both forms, some with bad tokens, bad JSON, throttled or flaky devices; \
            kills one worker with SIGKILL half way and starts another; pauses a campaign, cancels a part of it and \
            resumes the rest, while urgent jobs pass; lets a device leave and come back, and another lose an app; and \
            compares what the broker confirmed, what APNs accepted, what the results say and what arrived on the \
            devices. Needs the Debian package rabbitmq-server; takes about 40 seconds.

            Ctrl-C ends everything it started, at any time.

            Exit codes: 0 nothing lost and everything explained, 1 not so, 70 a part failed, 75 stopped early.
            """)

    @Option(help: "How many jobs to publish.")
    var jobs = 20_000

    @Flag(help: "Keep everything running afterwards, until Ctrl-C, and print the addresses. KEEP=1 does the same.")
    var keep = false

    @Option(help: "Which jobs: the same seed publishes the same ones. (default: another one each time)")
    var seed: UInt64?

    @OptionGroup var format: OutputOptions

    /// Checks what the parser cannot.
    func validate() throws {
        guard (100...500_000).contains(jobs) else {
            throw ValidationError("--jobs is a number from 100 to 500000, which the simulator's ledger can list.")
        }
    }

    /// Runs the demo until it is over or a signal ends it.
    func run() async throws {
        // Log lines of this process would disturb the view. The workers log to files.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let isKept = keep || Self.isKeptByEnvironment(getenv("KEEP").map { String(cString: $0) })
        let demo = Task { [jobs, seed, format] in
            var run = DemoRun(
                jobs: jobs, seed: seed ?? .random(in: 1...9_999), isKept: isKept, format: format.output)
            return try await run.run()
        }
        let signals = Task {
            var count = 0
            for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
                count += 1
                // A second signal ends the process at once. Its children end with it.
                if count > 1 { Glibc._exit(CommandStatus.gaveUp.rawValue) }
                Console.talk("\nStopping everything that was started.")
                demo.cancel()
            }
        }
        defer { signals.cancel() }
        do {
            guard try await demo.value else { throw CommandStatus.someFailed }
        } catch is CancellationError {
            throw CommandStatus.gaveUp
        } catch let error as LocalStackError {
            throw CommandFailure(error.code == .programMissing ? .missingInput : .internalFault, error.message)
        }
    }

    /// Whether a value of `KEEP` means yes.
    static func isKeptByEnvironment(_ value: String?) -> Bool {
        guard let value else { return false }
        return !["", "0", "no", "false"].contains(value.lowercased())
    }
}
