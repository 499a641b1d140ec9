import APNSSimulator
import BrokerClient
import EventLoop
import Foundation
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Rig
import Testing

/// A worker process with secrets that can be recognised, led through what goes wrong in production.
@Suite("Secrets in what a worker says", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct SecrecyTests {
    private static let password = "PASSWORDOFTHETEST"
    private static let wrongPassword = "WRONGPASSWORDOFTHETEST"
    private static let adminToken = "ADMINTOKENOFTHETEST"
    private static let payload = "PAYLOADOFTHETEST"
    private static let deviceToken = String(repeating: "5ec2e7", count: 11).prefix(64)

    /// What may appear nowhere, with the name to report it by.
    private static func secrets(_ local: LocalRun) throws -> [(name: String, text: String)] {
        let key = try String(contentsOfFile: local.directory.file("AuthKey_MARTLET001.p8"), encoding: .utf8)
        let lines = key.split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
        return [
            ("password", password), ("wrong password", wrongPassword), ("admin token", adminToken),
            ("payload", payload), ("device token", String(deviceToken)),
            ("device token in capitals", deviceToken.uppercased()),
            ("provider token", "eyJ"),
        ] + lines.map { ("key", String($0)) }
    }

    @Test("No log line, metric or admin answer shows a password, key, payload, device token or provider token")
    func nothingShows() async throws {
        let local = try await LocalRun.start(
            apps: [LocalRun.App(route: "shop", topic: "com.example.shop")],
            settings: "log: { level: trace, format: json }")
        defer { Task { await local.stop() } }
        let broker = local.broker
        try broker.control(["add_user", "quiet", Self.password])
        try broker.control(["set_permissions", "quiet", ".*", ".*", ".*"])
        let passwordFile = try local.directory.write(Self.wrongPassword, to: "password")
        let adminPort = try FreePort.next()
        let log = local.logFile(of: "quiet")
        let worker = try ChildProcess.start(
            try LocalRun.executable(), ["worker", "--config", local.configurationFile],
            environment: [
                "PATH": "/usr/bin:/bin", "MARTLET_INSTANCE": "quiet", "MARTLET_ADMIN_LISTEN": "127.0.0.1:\(adminPort)",
                "MARTLET_ADMIN_TOKEN_FILE": try local.directory.write(Self.adminToken, to: "admin"),
                "MARTLET_BROKER_URI": "amqp://quiet:\(Self.wrongPassword)@127.0.0.1:\(broker.port)/",
                "MARTLET_BROKER_PASSWORD_FILE": passwordFile,
            ], output: .file(log), error: .file(log))
        defer { worker.terminate(grace: .zero) }
        var answers = ""
        func ask(_ path: String, _ arguments: String...) throws -> String {
            let answer = try ChildProcess.run(
                "/usr/bin/curl", ["-s", "-i"] + arguments + ["http://127.0.0.1:\(adminPort)/\(path)"]
            ).text
            answers += answer
            return answer
        }
        func wait(_ path: String, until isWanted: (String) -> Bool) throws {
            while try !isWanted(ask(path)) {
                try Task.checkCancellation()
                guard worker.isRunning else { throw RingFailure("the worker ended") }
            }
        }

        // A password that the broker refuses, then one that it takes.
        try wait("readyz") { $0.contains("refused user quiet") }
        try local.directory.write(Self.password, to: "password")
        try wait("readyz") { $0.contains("\"ready\":true") }

        // Jobs of all sorts, of which each says something secret.
        let client = try local.connect("secrecy")
        defer { client.close() }
        let token = String(Self.deviceToken)
        let alert = #"{"aps":{"alert":"\#(Self.payload)"}}"#
        let bodies = [
            #"{"device_token":"\#(token)","payload":\#(alert)}"#,
            #"{"device_token":"\#(token)x","payload":\#(alert)}"#,
            #"{"device_token":"\#(token)","payload":\#(alert)"#,
            #"{"device_token":"\#(token)","payload":"\#(Self.payload)"}"#,
            #"{"device_token":"\#(token)","priority":"\#(Self.payload)","payload":\#(alert)}"#,
            #"{"device_token":"\#(token)","topic":"\#(Self.payload)_\#(token)","payload":\#(alert)}"#,
            #"{"device_token":"\#(token)","\#(Self.payload)":"\#(token)","payload":\#(alert)}"#,
            #"{"device_tokens":["\#(token)","\#(token.uppercased())","x\#(token)"],"payload":\#(alert)}"#,
            #"{"device_token":"\#(token)","payload":{"aps":{"alert":"\#(String(repeating: Self.payload, count: 400))"}}}"#,
        ]
        func publish(_ body: String, key: String, id: String) throws {
            var message = OutgoingMessage()
            message.setExchange(Array("apns.jobs".utf8).span)
            message.setRoutingKey(Array(key.utf8).span)
            message.setContentType(Array("application/json".utf8).span)
            message.setMessageID(Array(id.utf8).span)
            message.setReplyTo(Array("\(Self.payload).\(token)".utf8).span)
            message.setBody(Array(body.utf8).span)
            #expect(try client.publishConfirmed(message) == .confirmed)
        }
        for (index, body) in bodies.enumerated() {
            try publish(body, key: "development.normal.com.example.shop", id: "job-\(index)")
            try publish(body, key: "development.normal.org.example.nobody", id: "lost-\(index)")
        }
        try client.startConsuming(queue: "apns.q.results", prefetch: 100)
        var unanswered = Set(bodies.indices.flatMap { ["job-\($0)", "lost-\($0)"] })
        while !unanswered.isEmpty {
            let delivery = try #require(try client.receive(timeout: .seconds(30)), "\(unanswered)")
            unanswered.remove(
                try ReceivedMessage(delivery).correlationID.map { String(decoding: $0, as: UTF8.self) } ?? "")
            try client.acknowledge(delivery)
        }

        // A broker that goes away, and an APNs that does.
        try broker.control(["close_all_user_connections", "quiet", "for the test"])
        await local.simulator.stop()
        try publish(bodies[0], key: "development.normal.com.example.shop", id: "late")
        try wait("readyz") { $0.contains("\"ready\":false") }
        for path in ["livez", "metrics", "nothing", Self.payload] { _ = try ask(path) }
        _ = try ask("metrics", "-H", "Authorization: Bearer \(Self.adminToken)")
        _ = try ask("metrics", "-H", "Authorization: Bearer \(Self.adminToken)-wrong")
        _ = try ask("livez", "-X", "POST", "-d", Self.payload)
        worker.signal(SIGTERM)
        _ = worker.wait(timeout: .seconds(60))

        let said = try String(contentsOfFile: log, encoding: .utf8)
        #expect(said.utf8.count > 1_000 && answers.contains("martlet_"), "the worker said nothing to search in")
        for secret in try Self.secrets(local) {
            for (place, text) in [("log", said), ("admin", answers)] where text.contains(secret.text) {
                let line = text.split(separator: "\n").first { $0.contains(secret.text) } ?? ""
                Issue.record(
                    "\(secret.name) in \(place): \(line.replacingOccurrences(of: secret.text, with: "<HERE>"))")
            }
        }
    }
}
