import ArgumentParser
import Glibc

/// The command `martlet`: parses the command line, runs one subcommand, and leaves with its exit status.
@main
struct Martlet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "Push notifications from RabbitMQ to Apple devices, with a result for every one of them.",
        discussion: """
            Exit status: 0 all went well, 1 some items failed, 64 wrong command line, 65 bad input, 66 missing file, \
            69 broker or APNs unreachable, 70 a fault of Martlet's own, 75 gave up for now, 77 refused, \
            78 wrong configuration.

            Data go to standard output, everything else to standard error.
            """,
        version: Version.text,
        subcommands: [
            WorkerCommand.self, SimulatorCommand.self, PushCommand.self, ResultsCommand.self, DeadCommand.self,
            TopologyCommand.self, CheckCommand.self, DeviceCommandLine.self, BenchSendingCommand.self, DemoCommand.self,
        ])

    /// Runs the command that the arguments name.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var running = command as? any AsyncParsableCommand {
                try await running.run()
            } else {
                try command.run()
            }
            Console.flush()
        } catch let failure as CommandFailure {
            Console.flush()
            Console.talk("martlet: \(failure)")
            Glibc.exit(failure.status.rawValue)
        } catch let status as CommandStatus {
            Console.flush()
            Glibc.exit(status.rawValue)
        } catch {
            Console.flush()
            exit(withError: error)
        }
    }
}
