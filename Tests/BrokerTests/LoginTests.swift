import Foundation
import LocalStack
import PushModel
import PushWorker
import RabbitMQ
import TLS
import TestSupport
import Testing
import Topology
import WorkerSettings

/// Workers that log in as production does: least rights, secrets in files, certificates.
@Suite("How a worker logs in", .serialized, .ownThread, .timeLimit(.minutes(3)))
struct LoginTests {
    private static func allow(_ user: String, on virtualHost: String, at broker: PrivateBroker) throws {
        let rights = BrokerRole.worker.permissions(user: user)
        try broker.control([
            "set_permissions", "-p", virtualHost, user, rights.configure, rights.write, rights.read,
        ])
    }

    @Test("A changed password in its file is picked up without a restart, and until then the worker says what is wrong")
    func changedPassword() async throws {
        let stack = try await BrokerStack.start("password")
        let directory = try TemporaryDirectory(prefix: "martlet-login")
        defer { directory.remove() }
        let file = try directory.write("first-secret\n", to: "password")
        let broker = stack.broker
        try broker.control(["add_user", "worker-of-a-test", "first-secret"])
        try Self.allow("worker-of-a-test", on: stack.virtualHost, at: broker)
        var configuration = stack.configuration
        configuration.broker.uris = [
            SecretText("amqp://worker-of-a-test@127.0.0.1:\(broker.port)/\(stack.virtualHost)")
        ]
        configuration.broker.passwordFile = file
        let worker = try LiveWorker(configuration)
        try Self.push(as: "before", on: stack)

        try broker.control(["change_password", "worker-of-a-test", "second-secret"])
        try broker.control(["close_all_user_connections", "worker-of-a-test", "password changed"])
        let trouble = try stack.readiness(of: worker) { readiness in
            readiness.reasons.contains { $0.contains("refused user worker-of-a-test") }
        }
        #expect(!"\(trouble)".contains("first-secret"))
        try directory.write("second-secret\n", to: "password")
        _ = try stack.readiness(of: worker) { $0.reasons.isEmpty }
        try Self.push(as: "after", on: stack)

        // A file that is gone is said to be, and its return mends everything.
        try FileManager.default.removeItem(atPath: file)
        try broker.control(["close_all_user_connections", "worker-of-a-test", "once more"])
        _ = try stack.readiness(of: worker) { readiness in readiness.reasons.contains { $0.contains(file) } }
        try directory.write("second-secret\n", to: "password")
        _ = try stack.readiness(of: worker) { $0.reasons.isEmpty }
        try Self.push(as: "in the end", on: stack)
        try await worker.stop()
    }

    private static func push(as name: String, on stack: BrokerStack) throws {
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publishGoodJob(as: name)
        #expect(try client.result(name).result.outcome == "accepted")
    }

    @Test("With a client certificate alone (EXTERNAL, over TLS) a worker does its work; certificates are read again")
    func external() async throws {
        let certificates = try ThrowawayCertificates()
        let directory = try TemporaryDirectory(prefix: "martlet-external")
        defer { directory.remove() }
        let server = try certificates.authority.issue(commonName: "localhost", names: ["localhost"], days: 2)
        let authority = try directory.write(certificates.authority.certificatePEM, to: "ca.pem")
        let broker = try PrivateBroker.start(
            PrivateBrokerOptions(
                tls: .init(
                    authorityFile: authority,
                    certificateFile: try directory.write(server.certificatePEM, to: "server.pem"),
                    keyFile: try directory.write(server.keyPEM, to: "server.key"), external: true)))
        defer { broker.stop() }
        let stack = try await BrokerStack.start("external", ownBroker: broker)
        for user in ["worker-one", "worker-two"] {
            try broker.control(["add_user", user, UUID().uuidString])
            try Self.allow(user, on: stack.virtualHost, at: broker)
        }
        func show(_ user: String) throws {
            let issued = try certificates.authority.issue(commonName: user, names: [], days: 1, client: true)
            try directory.write(issued.keyPEM, to: "client.key")
            try directory.write(issued.certificatePEM, to: "client.pem")
        }
        try show("worker-one")
        var configuration = stack.configuration
        configuration.broker.uris = [
            SecretText("amqps://localhost:\(broker.tlsPort)/\(stack.virtualHost)?auth_mechanism=external")
        ]
        configuration.broker.tls.caFile = authority
        configuration.broker.tls.certFile = directory.file("client.pem")
        configuration.broker.tls.keyFile = directory.file("client.key")
        let worker = try LiveWorker(configuration)
        try Self.push(as: "one", on: stack)
        let connections = ["list_connections", "--no-table-headers", "user", "ssl", "auth_mechanism", "ssl_protocol"]
        #expect(try broker.control(connections).contains("worker-one\ttrue\tEXTERNAL\ttlsv1.3"))

        try show("worker-two")
        try broker.control(["close_all_user_connections", "worker-one", "new certificate"])
        while try !broker.control(connections).contains("worker-two\ttrue\tEXTERNAL") { try Task.checkCancellation() }
        try Self.push(as: "two", on: stack)

        // A certificate whose name is not a user: the broker refuses, and the worker goes on trying.
        try show("nobody")
        try broker.control(["close_all_user_connections", "worker-two", "another certificate"])
        _ = try stack.readiness(of: worker) { readiness in
            readiness.reasons.contains { $0.contains("the broker refused the client certificate") }
        }
        // An authority that is exchanged for a stranger: now the worker refuses.
        try directory.write(ThrowawayCertificates(name: "stranger").authority.certificatePEM, to: "ca.pem")
        _ = try stack.readiness(of: worker) { readiness in
            readiness.reasons.contains { $0.contains("is not acceptable") }
        }
        try directory.write(certificates.authority.certificatePEM, to: "ca.pem")
        try show("worker-one")
        _ = try stack.readiness(of: worker) { $0.reasons.isEmpty }
        try Self.push(as: "back", on: stack)
        try await worker.stop()
    }
}
