import Foundation
import LocalStack
import TLS
import TestSupport
import Testing

@testable import RabbitMQ

/// A broker that openssl(1) plays: it says what a broker says at login and writes down what it hears.
private final class ListeningServer {
    static let password = "s3cret-of-a-test"
    let port: Int
    private let process: ChildProcess
    private let directory: TemporaryDirectory
    private let input = Pipe()

    init(_ identity: (certificatePEM: [UInt8], keyPEM: [UInt8]), _ options: [String]) throws {
        directory = try TemporaryDirectory(prefix: "martlet-refusal")
        port = try FreePort.next()
        try input.fileHandleForWriting.write(
            contentsOf: Data(Wire.welcome(channelMax: 64, frameMax: 131_072, heartbeat: 60)))
        process = try ChildProcess.start(
            "/usr/bin/openssl",
            [
                "s_server", "-quiet", "-naccept", "1", "-accept", "127.0.0.1:\(port)", "-cert",
                try directory.write(identity.certificatePEM, to: "server.pem"), "-key",
                try directory.write(identity.keyPEM, to: "server.key"),
            ] + options,
            input: .descriptor(input.fileHandleForReading.fileDescriptor), output: .file(directory.file("heard")))
        // Ready once it is listed as a listener: a connection to try would be the one that it serves.
        let address = String(format: "0100007F:%04X 00000000:0000 0A", port)
        // By a program: Foundation reads no more than the beginning of a file without a size.
        try process.awaitListening {
            (try? ChildProcess.run("/bin/cat", ["/proc/net/tcp"]).text.contains(address)) == true
        }
    }

    deinit {
        process.terminate(grace: .zero)
        directory.remove()
    }

    /// Everything that came out of TLS. The server ends by itself after its one connection, and has written it by then.
    func heard() throws -> String {
        #expect(process.wait(timeout: .seconds(30)) != nil)
        return String(decoding: try Data(contentsOf: URL(filePath: directory.file("heard"))), as: UTF8.self)
    }
}

@Suite("A broker that must not be trusted", .timeLimit(.minutes(2)))
struct TLSRefusalTests {
    /// A server, and what a client finds wrong with it.
    struct Server: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var names = ["localhost", "127.0.0.1"]
        var days = 2
        var startsIn = 0
        var isStranger = false
        var options: [String] = []
        /// One of these is in the error.
        var complaints: [String]
        /// Whether a complaint comes from the server, after the handshake of TLS 1.3.
        var speaksFirst = false
    }

    static let servers = [
        Server(
            testDescription: "unknown authority", isStranger: true,
            complaints: ["unable to get local issuer certificate", "self-signed certificate"]),
        Server(testDescription: "another name", names: ["elsewhere.example"], complaints: ["hostname mismatch"]),
        Server(testDescription: "another address", names: ["127.0.0.2"], complaints: ["hostname mismatch"]),
        Server(testDescription: "expired", days: 1, startsIn: -3 * 86_400, complaints: ["certificate has expired"]),
        Server(testDescription: "not valid yet", startsIn: 86_400, complaints: ["certificate is not yet valid"]),
        Server(
            testDescription: "TLS 1.0 only", options: ["-tls1", "-cipher", "ALL:@SECLEVEL=0"],
            complaints: ["protocol version", "unsupported protocol"]),
        Server(
            testDescription: "TLS 1.1 only", options: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
            complaints: ["protocol version", "unsupported protocol"]),
        Server(
            testDescription: "wants a certificate, TLS 1.2",
            options: ["-tls1_2", "-Verify", "1", "-verify_return_error"], complaints: ["handshake failure"]),
        Server(
            testDescription: "wants a certificate, TLS 1.3",
            options: ["-tls1_3", "-Verify", "1", "-verify_return_error"],
            complaints: ["certificate required"], speaksFirst: true),
    ]

    private func open(_ server: Server) throws -> (server: ListeningServer, error: AMQPError?) {
        let authority = try ThrowawayCertificates().authority
        let issuer = server.isStranger ? try ThrowawayCertificates(name: "stranger").authority : authority
        let listening = try ListeningServer(
            issuer.issue(
                commonName: "server", names: server.names, days: server.days, notBeforeOffset: server.startsIn),
            server.options)
        let directory = try TemporaryDirectory(prefix: "martlet-refusal")
        defer { directory.remove() }
        var endpoint = AMQPEndpoint(host: "localhost", port: listening.port, useTLS: true)
        endpoint.user = "worker"
        endpoint.password = ListeningServer.password
        endpoint.tls.caFile = try directory.write(authority.certificatePEM, to: "ca.pem")
        do throws(AMQPError) {
            let connection = try LiveConnection.open(endpoint)
            withExtendedLifetime(connection) {}
            return (listening, nil)
        } catch {
            return (listening, error)
        }
    }

    @Test("is refused with the reason in words before a byte of the login leaves", arguments: servers)
    func refused(_ server: Server) throws {
        let (listening, error) = try open(server)
        #expect(error?.code == .tls)
        let words = error?.message ?? ""
        #expect(server.complaints.contains { words.contains($0) }, "\(words)")
        #expect(!words.contains(ListeningServer.password))
        let heard = try listening.heard()
        #expect(!heard.contains(ListeningServer.password) && !heard.contains("PLAIN"))
        if !server.speaksFirst { #expect(heard.isEmpty) }
    }

    @Test("a broker that is trusted does hear the login, by which the test above would notice it")
    func control() throws {
        let (listening, error) = try open(Server(testDescription: "good", complaints: []))
        #expect(error == nil, "\(error as Any)")
        #expect(try listening.heard().contains(ListeningServer.password))
    }
}
