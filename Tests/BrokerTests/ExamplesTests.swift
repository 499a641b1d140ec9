import EventLoop
import LocalStack
import Rig
import TestSupport
import Testing

@Suite("The examples of config/examples", .serialized, .timeLimit(.minutes(10)))
struct ExamplesTests {
    private static let tokens = [
        String(repeating: "a1", count: 32), "dead0410" + String(repeating: "b2", count: 28),
    ]

    /// Runs one of the programs of a language to its end.
    private static func run(
        _ language: ExampleLanguage, _ program: String, _ arguments: [String], broker: String
    ) async throws -> ChildProcess.Outcome {
        // A shell changes the directory, so that what stands in the README is what runs.
        let directory = "\(PythonEnvironment.repository)/config/examples/\(language.rawValue)"
        let command = ["cd \"$0\" && exec \"$@\"", directory] + language.command(program) + arguments
        let environment = language.variables.merging(["MARTLET_BROKER_URI": broker]) { _, own in own }
        return try await BlockingWork.run(program) {
            try ChildProcess.run("/bin/sh", ["-c"] + command, environment: environment, timeout: .seconds(180))
        }
    }

    @Test("Dead device tokens are forgotten, however often, but for those on hold and those that were registered since")
    func forget() async throws {
        try await KillRing.run { ring in
            let worker = try ring.local.startWorker("worker-1", adminPort: try FreePort.next())
            let broker = ring.local.broker.uri
            let producer = try await Self.run(.python, "producer", ["com.example.shop"] + Self.tokens, broker: broker)
            #expect(producer.status == 0, "\(producer.errorText)")
            let consumer = try await Self.run(.python, "consumer", ["2"], broker: broker)
            #expect(consumer.status == 0, "\(consumer.errorText)")
            try await ring.stop([worker])

            let directory = try TemporaryDirectory(prefix: "martlet-forget")
            let database = "\(directory.path)/devices.db"
            let (alive, dead) = (Self.tokens[0], Self.tokens[1])
            let rows = [
                "('\(alive)', 'com.example.shop', 1)", "('\(dead)', 'com.example.shop', 1)",
                "('\(dead)', 'com.example.other', 1)", "('held', 'com.example.shop', 1)",
            ]
            _ = try await Self.sqlite(
                database,
                """
                CREATE TABLE device_tokens (token, topic, registered_at, environment DEFAULT 'development');
                INSERT INTO device_tokens (token, topic, registered_at) VALUES \(rows.joined(separator: ", "));
                """)
            // What the export says of a token on hold, with --held.
            let held =
                #"{"device_token": "held", "topic": "com.example.shop", "environment": "development", "#
                + #""dead_since": 1763712764120, "action": "hold"}"#
            let pipe = """
                { "$0" dead tokens --export -o json && echo '\(held)'; } |
                    python3 '\(PythonEnvironment.repository)/config/examples/python/forget.py' '\(database)'
                """
            for deleted in [1, 0] {
                let forget = try await Self.shell(pipe, try LocalRun.executable(), broker: broker)
                #expect(forget.text == "\(deleted) deleted, 1 on hold\n", "\(forget.errorText)")
            }
            #expect(
                try await Self.sqlite(database, "SELECT topic, token FROM device_tokens ORDER BY topic, token;") == [
                    "com.example.other \(dead)", "com.example.shop \(alive)", "com.example.shop held",
                ])
            // The app registers it again.
            _ = try await Self.sqlite(
                database, "INSERT INTO device_tokens VALUES ('\(dead)', 'com.example.shop', 1e15, 'development');")
            let forget = try await Self.shell(pipe, try LocalRun.executable(), broker: broker)
            #expect(forget.text == "0 deleted, 1 on hold\n", "\(forget.errorText)")
        }
    }

    /// Runs a command with an argument.
    private static func shell(
        _ command: String, _ argument: String, broker: String
    ) async throws -> ChildProcess.Outcome {
        let environment = PythonEnvironment.variables.merging(
            ["MARTLET_BROKER_URI": broker, "PATH": "/usr/bin:/bin"]
        ) { _, own in own }
        return try await BlockingWork.run("example") {
            try ChildProcess.run(
                "/bin/sh", ["-c", command, argument], environment: environment, timeout: .seconds(60))
        }
    }

    /// Runs statements on a database; Python has SQLite's library, and its program need not be there.
    private static func sqlite(_ database: String, _ statements: String) async throws -> [String] {
        let program = """
            import sqlite3, sys
            with sqlite3.connect(sys.argv[1]) as database:
                for statement in sys.argv[2].split(";"):
                    for row in database.execute(statement): print(*row)
            """
        let outcome = try await BlockingWork.run("sqlite") {
            try ChildProcess.run(
                "/usr/bin/python3", ["-c", program, database, statements], environment: PythonEnvironment.variables,
                timeout: .seconds(60))
        }
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    /// Asks the broker until every result is acknowledged: it handles acknowledgements after the consumer has left.
    private static func awaitEmptyResultsQueue(_ ring: KillRing) async throws {
        while true {
            try Task.checkCancellation()
            let counts = try await BlockingWork.run("counts") { try ring.local.broker.queueCounts() }
            if try #require(counts["apns.q.results"]).total == 0 { return }
        }
    }

    @Test(
        "The producer publishes confirmed jobs, and the consumer reads a result of each",
        arguments: ExampleLanguage.tested)
    func example(_ language: ExampleLanguage) async throws {
        try await KillRing.run { ring in
            let worker = try ring.local.startWorker("worker-1", adminPort: try FreePort.next())
            let broker = ring.local.broker.uri
            let producer = try await Self.run(language, "producer", ["com.example.shop"] + Self.tokens, broker: broker)
            #expect(producer.status == 0, "\(producer.errorText)")
            let jobs = producer.text.split(separator: "\n")
            #expect(Set(jobs).count == 2)

            let consumer = try await Self.run(language, "consumer", ["2"], broker: broker)
            #expect(consumer.status == 0, "\(consumer.errorText)")
            // Confirms may come in another order than jobs were published, and results in any.
            let lines = consumer.text.split(separator: "\n").map { $0.split(separator: " ") }
            #expect(Set(lines.map { $0.first }) == Set(jobs.map { Optional($0) }))
            #expect(
                lines.map { $0.dropFirst().joined(separator: " ") }.sorted() == [
                    "0 accepted none", "0 dead_token drop_token",
                ])
            try await Self.awaitEmptyResultsQueue(ring)
            try await ring.stop([worker])
        }
    }
}
