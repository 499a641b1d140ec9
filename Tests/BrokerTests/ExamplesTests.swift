import EventLoop
import Foundation
import LocalStack
import Rig
import TestSupport
import Testing

/// A language in which `config/examples` has a producer and a consumer.
enum ExampleLanguage: String, CaseIterable, CustomTestStringConvertible {
    case python, go, java, ruby, php

    /// Those to test: Python, and the others too where `MARTLET_EXAMPLES=1` says that their packages are installed.
    static var tested: [Self] {
        ProcessInfo.processInfo.environment["MARTLET_EXAMPLES"] == "1" ? allCases : [.python]
    }

    /// What the test's name shows.
    var testDescription: String { rawValue }

    /// The command that runs one of the language's two programs from its directory, without the program's arguments.
    /// - Parameter program: `producer` or `consumer`.
    func command(_ program: String) -> [String] {
        switch self {
        case .python: ["/usr/bin/python3", "\(program).py"]
        case .go: ["/usr/bin/go", "run", "\(program).go"]
        case .java: ["/usr/bin/java", "-cp", Self.classPath, "\(program.capitalized).java"]
        case .ruby: ["/usr/bin/ruby", "-w", "\(program).rb"]
        case .php: ["/usr/bin/php", "\(program).php"]
        }
    }

    private static let classPath = ["amqp-client", "gson", "slf4j-api", "slf4j-nop"]
        .map { "/usr/share/java/\($0).jar" }.joined(separator: ":")

    /// The variables that Debian's packages need besides the programs' own: Go's have no modules.
    var variables: [String: String] {
        guard self == .go else { return PythonEnvironment.variables }
        return [
            "PATH": "/usr/bin:/bin", "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "-p=1",
            "GOCACHE": "\(PythonEnvironment.repository)/.build/go",
        ]
    }
}

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
