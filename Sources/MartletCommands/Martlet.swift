package import ArgumentParser
import Glibc

/// The command `martlet`: parses the command line, runs one subcommand, and leaves with its exit status.
package struct Martlet: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "Push notifications from RabbitMQ to Apple devices, with a result for every one of them.",
        discussion: """
            Exit status: 0 all went well, 1 some items failed, 64 wrong command line, 65 bad input, 66 missing file, \
            69 broker or APNs unreachable or queue not there, 70 a fault of Martlet's own, 74 output not written, \
            75 gave up for now, 77 refused, 78 wrong configuration, 141 the output's reader is gone.

            Data go to standard output, everything else to standard error.
            """,
        version: Version.text,
        subcommands: [
            WorkerCommand.self, SimulatorCommand.self, PushCommand.self, ResultsCommand.self, DeadCommand.self,
            RouteCommand.self, CampaignCommand.self, ControlListCommand.self, TopologyCommand.self, StatusCommand.self,
            DashboardCommand.self, CheckCommand.self, ConfigCommand.self, ContextCommand.self,
            HealthCommand.self, DeviceCommandLine.self, BenchSendingCommand.self, DemoCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(name: "Help topic", subcommands: [JobHelp.self, ResultHelp.self, DeadLetterHelp.self])
        ])

    /// The command without arguments.
    package init() {}

    /// Runs the command that the arguments name. It is on the main actor, so that no other thread is needed before a
    /// command runs.
    @MainActor package static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            // The parser would answer an unknown word after `help` with the general help.
            if arguments.first == "help" { try refuseUnknownWord(in: Array(arguments.dropFirst())) }
            var command = try parseAsRoot()
            // Checked here, because running the command already takes a thread.
            if command is WorkerCommand { try ThreadRoom.check() }
            try ContextStore.apply(for: command)
            if var running = command as? any AsyncParsableCommand {
                try await running.run()
            } else {
                try command.run()
            }
            try Console.flush()
        } catch let failure as CommandFailure {
            leave(failure)
        } catch let status as CommandStatus {
            // A script that reads only the status must not believe that an incomplete report is complete.
            do throws(CommandFailure) { try Console.flush() } catch { leave(error) }
            Glibc.exit(status.rawValue)
        } catch {
            try? Console.flush()
            // If a required option is misspelt, the parser complains that it is missing. The misspelling is the cause.
            if exitCode(for: error) == .validationFailure {
                do throws(CommandFailure) { try refuseUnknownWord(in: arguments) } catch { leave(error) }
            }
            exit(withError: error)
        }
    }

    /// Throws where a command line holds an option or a command that does not exist.
    private static func refuseUnknownWord(in arguments: [String]) throws(CommandFailure) {
        guard let tree = CommandTree(Self.self), let word = UnknownWord(in: arguments, of: tree) else { return }
        throw CommandFailure(.usage, word.description, remedy: "See '\(word.command) --help'.")
    }

    /// Prints the failure and exits. If the reader of the output went away first, it dies of SIGPIPE without a word.
    private static func leave(_ failure: CommandFailure) -> Never {
        try? Console.flush()
        if failure.status == .readerGone {
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        } else {
            Console.talk("martlet: \(failure)")
        }
        Glibc.exit(failure.status.rawValue)
    }
}
