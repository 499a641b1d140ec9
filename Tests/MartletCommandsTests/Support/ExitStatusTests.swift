import LocalStack
import Testing

@testable import MartletCommands

@Suite("Exit statuses of the program", .timeLimit(.minutes(1)))
struct ExitStatusTests {
    /// One run of the program and how it must end.
    struct Run: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var input = ""
        var environment: [String: String] = [:]
        var status: CommandStatus
        /// What standard output or standard error must say.
        var says: String

        var testDescription: String { "\(arguments.joined(separator: " ")) → \(status)" }
    }

    private static let push = ["push", "a1b2", "--topic", "com.example.app"]
    private static let job = #"{"device_token":"a1","topic":"com.a","environment":"production","payload":{}}"#

    static let runs: [Run] = [
        Run(arguments: [], status: .ok, says: "SUBCOMMANDS"),
        Run(arguments: ["--version"], status: .ok, says: "martlet 0."),
        Run(arguments: ["help", "push"], status: .ok, says: "Examples:"),
        Run(arguments: ["fly"], status: .usage, says: "unknown command 'fly'. There are worker, simulator, push"),
        Run(arguments: ["wroker"], status: .usage, says: "unknown command 'wroker'. Did you mean 'worker'?"),
        Run(arguments: ["help", "pus"], status: .usage, says: "unknown command 'pus'. Did you mean 'push'?"),
        Run(arguments: ["help"], status: .ok, says: "SUBCOMMANDS"),
        Run(arguments: ["help", "dead", "list"], status: .ok, says: "--limit"),
        Run(
            arguments: ["push", "a1", "--tpoic", "com.a"], status: .usage,
            says: "unknown option '--tpoic'. Did you mean '--topic'?"),
        Run(
            arguments: push + ["--alrt", "x"], status: .usage,
            says: "unknown option '--alrt'. Did you mean '--alert'?\nSee 'martlet push --help'."),
        Run(arguments: ["results", "--folow"], status: .usage, says: "Did you mean '--follow'?"),
        Run(
            arguments: push + ["--alert", "x", "--class", "urgent"], status: .usage,
            says: "The value 'urgent' is invalid for '--class"),
        Run(arguments: ["worker"], status: .configuration, says: "no configuration is given, and so no routes"),
        Run(arguments: ["check"], status: .configuration, says: "no configuration is given"),
        Run(
            arguments: ["push", "--jobs", "-", "-n"], input: job.replacing("payload", with: #"prioritiy":5,"payload"#),
            status: .ok, says: #"input:1: warning: unknown field "prioritiy", which workers ignore. Did you mean "pri"#),
        Run(arguments: ["push"], status: .usage, says: "Give a device token"),
        Run(arguments: push, status: .usage, says: "Nothing to push"),
        Run(arguments: ["push", "a1", "--alert", "x"], status: .usage, says: "--topic"),
        Run(arguments: push + ["--alert", "x", "--priority", "7"], status: .usage, says: "10, 5 or 1"),
        Run(arguments: push + ["--alert", "x", "--payload", "f"], status: .usage, says: "not both"),
        Run(arguments: push + ["--jobs", "-"], status: .usage, says: "--jobs"),
        Run(arguments: push + ["--payload", "/nonexistent"], status: .missingInput, says: "/nonexistent"),
        Run(arguments: push + ["--payload", "-"], input: "[1]", status: .badInput, says: "not a JSON object"),
        Run(arguments: push + ["--payload", "-", "-n"], input: #"{"aps":{}}"#, status: .ok, says: #"{"aps":{}}"#),
        Run(arguments: ["push", "--jobs", "/nonexistent"], status: .missingInput, says: "/nonexistent"),
        Run(arguments: ["push", "--jobs", "-", "-n"], input: "x\n", status: .badInput, says: "standard input:1"),
        Run(arguments: ["push", "--jobs", "-", "-n"], input: "\(job)\nx\n", status: .someFailed, says: "input:2"),
        Run(arguments: ["push", "--jobs", "-", "-n"], input: "\(job)\n\n\(job)", status: .ok, says: job),
        Run(
            arguments: ["push", "--jobs", "-", "-n"], input: job.replacing("a1", with: "zz"), status: .badInput,
            says: "input:1: a worker would refuse it: BadDeviceToken, the device token must consist of hexadecimal"),
        Run(
            arguments: ["push", "zz", "--topic", "com.a", "--alert", "x", "-n"], status: .badInput,
            says: "BadDeviceToken"),
        Run(
            arguments: ["push", "a1", "b2c", "--topic", "com.a", "--alert", "x", "-n"], status: .badInput,
            says: "a worker would refuse device_tokens[1]: BadDeviceToken, the device token has an odd number"),
        Run(
            arguments: ["push", "a1b", "--topic", "com.a", "--alert", "x", "--raw", "-n"], status: .badInput,
            says: "BadDeviceToken"),
        Run(
            arguments: push + ["--alert", "x", "--deadline", "600"], status: .usage,
            says: "It is 600, which as seconds since 1970 is 1970-01-01T00:10:00Z: not a plausible time"),
        Run(
            arguments: push + ["--alert", "x", "--deadline", "1893499200000", "-n"], status: .ok,
            says: #""deadline":"2030-01-01T12:00:00.000Z""#),
        Run(
            arguments: push + ["--alert", "x", "--at", "1893499200000", "-n"], status: .badInput,
            says: "BadNotBefore, not_before is read as 2030-01-01T12:00:00Z, more than 30 days from now"),
        Run(arguments: push + ["--alert", "x", "--at", "18:00", "-n"], status: .ok, says: #""not_before":"20"#),
        Run(arguments: push + ["--alert", "x", "--at", "25:00"], status: .usage, says: "It is not a time of day"),
        Run(
            arguments: push + ["--alert", "x", "--at", "+2h", "--deadline", "+1h", "-n"], status: .badInput,
            says: "leave time between the two"),
        Run(
            arguments: ["push", "--jobs", "-", "--at", "18:00"], input: job, status: .usage,
            says: "--jobs brings tokens and payloads with it"),
        Run(
            arguments: ["push", "--jobs", "-", "-n"],
            input: job.replacing("\"payload\"", with: "\"not_before\":1893499200,\"payload\""), status: .badInput,
            says: "input:1: a worker would refuse it: BadNotBefore"),
        Run(arguments: push + ["--alert", "x", "--expiration", "0", "-n"], status: .ok, says: #""expiration":0"#),
        Run(arguments: push + ["--alert", "x", "--apns-id", "u", "-n"], status: .badInput, says: "BadMessageId"),
        Run(arguments: push + ["--alert", "x", "--broker", "http://x"], status: .usage, says: "--broker"),
        Run(
            arguments: push + ["--alert", "x"], environment: ["MARTLET_BROKER_URI": "amqp://u:secret@:1x/"],
            status: .configuration, says: "MARTLET_BROKER_URI"),
        Run(
            arguments: ["dead"], environment: ["MARTLET_BROKER_URI_FILE": "/nonexistent"], status: .missingInput,
            says: "/nonexistent"),
        Run(
            arguments: ["results", "--broker", "amqp://u:secret@127.0.0.1:1/"], status: .unreachable, says: "127.0.0.1"),
        Run(
            arguments: ["results", "--broker", "amqp://u:secret@broker.example/"], status: .usage,
            says: "--broker: the way to broker.example is not encrypted"),
        Run(
            arguments: [
                "status", "--broker", "amqp://u:secret@127.0.0.1:1/", "--management", "http://u:secret@10.0.0.7:15672",
            ], status: .usage, says: "the management API at 10.0.0.7 is not encrypted"),
        Run(
            arguments: ["results", "--broker", "amqp://u:secret@127.0.0.1:1/,amqp://u:secret@127.0.0.1:1/v"],
            status: .usage, says: "all addresses of a broker have one virtual host"),
        Run(arguments: push + ["--alert", "x", "--volume", "nan", "-n"], status: .usage, says: "--volume must be"),
        Run(arguments: push + ["--alert", "x", "--rate", "1e-20", "-n"], status: .usage, says: "--rate must be"),
        Run(
            arguments: ["dead"], environment: ["MARTLET_BROKER_URI": "amqp://u:secret@10.0.0.7/"],
            status: .configuration, says: "--broker-allow-plaintext"),
        Run(
            arguments: ["dead", "--broker", "amqps://u@broker.example", "--broker-password-file", "/nonexistent"],
            status: .missingInput, says: "/nonexistent"),
        Run(arguments: ["results", "--follow", "--drain"], status: .usage, says: "--drain"),
        Run(arguments: ["results", "--yes"], status: .usage, says: "--drain"),
        Run(arguments: ["results", "--outcome", "nonsense"], status: .usage, says: "accepted, dead_token, rejected"),
        Run(
            arguments: ["results", "--drain", "--queue", "apns.q.jobs.shop"], status: .usage,
            says: "counts as a delivery"),
        Run(arguments: ["dead", "--queue", "apns.q.jobs.shop"], status: .usage, says: "counts as a delivery"),
        Run(arguments: ["dead", "list", "--queue", "apns.q.retry.2s"], status: .usage, says: "counts as a delivery"),
        Run(
            arguments: ["dead", "show", "j", "--queue", "apns.q.jobs.unrouted"], status: .usage,
            says: "counts as a delivery"),
        Run(
            arguments: push + ["--alert", "x", "--collapse-id", String(repeating: "é", count: 33), "-n"],
            status: .badInput, says: "the collapse id has 66 bytes, and APNs takes 64"),
        Run(
            arguments: push + ["--alert", "x", "--collapse-id", String(repeating: "c", count: 64), "-n"], status: .ok,
            says: "collapse_id"),
        Run(arguments: ["dead", "show"], status: .usage, says: "<id>"),
        Run(arguments: ["topology", "render", "-c", "/nonexistent"], status: .missingInput, says: "/nonexistent"),
        Run(arguments: ["worker", "-c", "/nonexistent"], status: .missingInput, says: "/nonexistent"),
        Run(arguments: ["topology", "render"], status: .configuration, says: "routes"),
        Run(arguments: ["check", "-c", "/nonexistent"], status: .missingInput, says: "/nonexistent"),
        Run(
            arguments: ["check"], environment: ["MARTLET_PREFETCH": "many"], status: .configuration,
            says: "MARTLET_PREFETCH"),
    ]

    @Test("The program ends as its manual says, and says why", arguments: runs)
    func ends(run: Run) throws {
        let outcome = try Executable.run(run.arguments, input: run.input, environment: run.environment)
        let said = outcome.text + outcome.errorText
        #expect(outcome.status == run.status.rawValue, "\(said)")
        #expect(said.contains(run.says), "\(said)")
        #expect(!said.contains("secret"))
    }

    @Test(
        "Output that cannot be written is told, and wins over any other status",
        arguments: [
            (push + ["--alert", "x", "-n"], ""), (["push", "--jobs", "-", "-n"], "\(job)\nx\n"),
            (push + ["--alert", "x", "-n", "-o", "json"], ""), (["check", "-c", "/nonexistent"], ""),
        ])
    func fullOutput(arguments: [String], input: String) throws {
        let outcome = try Executable.run(arguments, input: input, intoFullDevice: true)
        #expect(outcome.status == 74, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("cannot write to standard output: No space left on device"))
    }

    @Test("A worker that may open too few files does not start, and says which limit to raise")
    func tooFewDescriptors() throws {
        let outcome = try ChildProcess.run(
            "/bin/sh", ["-c", "ulimit -n 40 && exec \"$0\" worker --config /nonexistent", Executable.path],
            environment: [:], timeout: .seconds(50))
        #expect(outcome.status == CommandStatus.configuration.rawValue)
        #expect(
            outcome.errorText.contains("only 40 open files are allowed, and at least 64 are needed")
                && outcome.errorText.contains("ulimit -n"), "\(outcome.errorText)")
    }
}
