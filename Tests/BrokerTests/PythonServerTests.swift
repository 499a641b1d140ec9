import Foundation
import LocalStack
import PushWorker
import RabbitMQ
import TLS
import TestSupport
import Testing

@Suite("A Python server in APNs's place", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct PythonServerTests {
    /// hypercorn with the application of `Fixtures`.
    final class Server: Sendable {
        /// A push as the application saw it.
        struct Push: Decodable {
            var token: String
            var http: String
            var topic: String?
            var id: String
            var bearer: Bool
            var body: String
        }

        let port: Int
        let authorityFile: String
        private let directory: TemporaryDirectory
        private let process: ChildProcess

        init() throws {
            directory = try TemporaryDirectory(prefix: "martlet-hypercorn")
            let authority = try CertificateAuthority.create(commonName: "Ring authority")
            let issued = try authority.issue(commonName: "localhost", names: ["localhost"], days: 1)
            authorityFile = try directory.write(authority.certificatePEM, to: "ca.pem")
            let certificate = try directory.write(issued.certificatePEM, to: "cert.pem")
            let key = try directory.write(issued.keyPEM, to: "key.pem")
            port = try FreePort.several(1)[0]
            let log = ChildProcess.Stream.file(directory.file("server.log"))
            process = try ChildProcess.start(
                PythonEnvironment.interpreter,
                [
                    "-m", "hypercorn", "--workers", "0", "--bind", "127.0.0.1:\(port)", "--certfile", certificate,
                    "--keyfile", key, "\(try Fixtures.path("apns_asgi.py")):app",
                ], environment: PythonEnvironment.variables, output: log, error: log)
        }

        /// What was pushed so far; waits for the server's start where nothing was.
        func seen() throws -> [Push] {
            let answer = try ChildProcess.run(
                "curl",
                [
                    "--http2", "-sS", "--cacert", authorityFile, "--retry", "20", "--retry-delay", "1",
                    "--retry-connrefused", "https://localhost:\(port)/seen",
                ])
            guard answer.status == 0 else {
                let log = try? String(contentsOfFile: directory.file("server.log"), encoding: .utf8)
                throw RingFailure("\(answer.errorText)\(log ?? "")")
            }
            return try JSONDecoder().decode([Push].self, from: Data(answer.output))
        }

        func stop() { process.terminate(grace: .seconds(2)) }
    }

    private static func token(_ digits: String) -> String {
        digits + String(repeating: "a", count: 64 - digits.utf8.count)
    }

    /// The parts of a result that follow from the answer alone.
    private static func summary(_ result: JobResult) -> String {
        [
            result.outcome, result.action, result.status.map(String.init) ?? "-", result.reason ?? "-",
            "attempt \(result.attempt)", result.tokenInvalidSince.map(String.init) ?? "-",
        ].joined(separator: " ")
    }

    @Test("Every kind of answer of hypercorn leads to the outcome of the contract")
    func answers() async throws {
        let server = try Server()
        defer { server.stop() }
        #expect(try server.seen().isEmpty)
        let stack = try await BrokerStack.start(
            "hypercorn",
            apns: """
                { development: "https://localhost:\(server.port)", trust_file: "\(server.authorityFile)" }
                """)
        let client = try JobClient(stack)
        defer { client.close() }
        let short = try client.tap("apns.retry.2s")
        let long = try client.tap("apns.retry.4s")
        let worker = try stack.startWorker()
        let digits = ["200", "400", "410", "4291", "4299", "503"]
        try client.publish(digits.map { (.raw(token: .text(Self.token($0))), $0) })

        let summaries = try digits.map { Self.summary(try client.result($0).result) }
        #expect(
            summaries == [
                "accepted none 200 - attempt 1 -",
                "rejected fix_request 400 BadCollapseId attempt 1 -",
                "dead_token drop_token 410 Unregistered attempt 1 1763700000123",
                "accepted none 200 - attempt 2 -",
                "exhausted replay 429 TooManyRequests attempt 1 -",
                "accepted none 200 - attempt 2 -",
            ])
        // A second is asked for and the first tier has two; without a wish it is the second tier.
        #expect(try client.next("4291", from: short).number("x-apns-attempt") == 2)
        #expect(try client.next("503", from: long).number("x-apns-attempt") == 2)
        for queue in [short, long] { try client.expectNothing(in: queue) }
        for name in ["400", "4299"] { _ = try client.next(name, from: "apns.q.dead") }
        _ = try client.next("410", from: "apns.q.dead.tokens")
        for queue in ["apns.q.dead", "apns.q.dead.tokens"] { try client.expectNothing(in: queue) }
        #expect(try stack.leftovers() == [:])
        try await worker.stop()

        let seen = try server.seen()
        #expect(seen.count == 8)
        #expect(Set(seen.map(\.http)) == ["2"])
        #expect(Set(seen.map(\.topic)) == ["com.example.app"])
        #expect(seen.allSatisfy { $0.bearer && $0.body == #"{"aps":{"alert":"SECRET"}}"# })
        for (name, count) in [("4291", 2), ("503", 2), ("200", 1)] {
            let pushes = seen.filter { $0.token == Self.token(name) }
            #expect(pushes.count == count)
            #expect(Set(pushes.map(\.id)).count == 1, "every attempt has the same apns-id")
        }
    }

    @Test("hypercorn takes a thousand pushes of a worker, each exactly once")
    func volume() async throws {
        let server = try Server()
        defer { server.stop() }
        #expect(try server.seen().isEmpty)
        let stack = try await BrokerStack.start(
            "hypercorn-volume",
            apns: """
                { development: "https://localhost:\(server.port)", trust_file: "\(server.authorityFile)" }
                """)
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let names = (0..<1_000).map { "job \($0)" }
        try client.publish(names.map { (.raw(token: .text(Self.token("200"))), $0) })
        let results = try names.map { try client.result($0).result }
        #expect(Set(results.map(\.outcome)) == ["accepted"])
        #expect(try stack.leftovers() == [:])
        try await worker.stop()
        #expect(try server.seen().map(\.id).sorted() == results.compactMap(\.apnsId).sorted())
    }
}
