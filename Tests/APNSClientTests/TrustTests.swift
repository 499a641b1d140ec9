import EventLoop
import Foundation
import LocalStack
import TLS
import TestSupport
import Testing

@testable import APNSClient

@Suite("Trust in APNs", .timeLimit(.minutes(1)))
struct TrustTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let code: APNSClientError.Code
        let words: String
        let context: @Sendable (ThrowawayCertificates) throws -> TLSContext

        var testDescription: String { name }
    }

    private static func context(_ identity: CertificateIdentity) throws -> TLSContext {
        try .server(identity: identity, applicationProtocols: ["h2"], clientTrust: nil)
    }

    @Test(
        "A server that is not who it should be is refused before a byte of a push leaves, and the reason is kept",
        arguments: [
            Case(name: "another host", code: .untrusted, words: "IP address mismatch") {
                try context(try $0.server(names: ["api.push.example"]))
            },
            Case(name: "expired", code: .untrusted, words: "certificate has expired") {
                try context(try $0.server(days: 5, notBeforeOffset: -10 * 86_400))
            },
            Case(name: "not valid yet", code: .untrusted, words: "not yet valid") {
                try context(try $0.server(days: 5, notBeforeOffset: 86_400))
            },
            Case(name: "unknown authority", code: .untrusted, words: "certificate") { _ in
                try context(try ThrowawayCertificates(name: "Stranger").server())
            },
        ])
    func untrusted(example: Case) throws {
        let certificates = try ThrowawayCertificates()
        let ring = try Ring(
            tokens: try Tokens.source(), trust: certificates.trust, context: try example.context(certificates))
        let job = try Jobs.make()
        try ring.turn {
            !ring.connectErrors.isEmpty
        } everyTurn: {
            ring.refuses(job, tag: 1)
        }
        let error = try #require(ring.connectErrors.first)
        #expect(error.code == example.code)
        #expect(error.message.contains(example.words), "\(error)")
        #expect(!error.isRetriable)
        #expect(ring.pool.status.lastError?.message == error.message)
        #expect(ring.server.requests.isEmpty)
        #expect(ring.server.connections.allSatisfy { !$0.hasPlaintext })
        #expect(ring.pool.isConnected == false)
    }

    @Test(
        "A server of openssl(1) that is self-signed or speaks TLS 1.1 only gets no byte of a push",
        arguments: [
            (["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"], APNSClientError.Code.tls, "no TLS version in common"),
            ([], .untrusted, "self-signed certificate"),
        ])
    func foreign(options: [String], code: APNSClientError.Code, words: String) throws {
        let directory = try TemporaryDirectory(prefix: "martlet-trust")
        let (certificate, key) = (directory.file("self.pem"), directory.file("self.key"))
        let made = try ChildProcess.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "5", "-subj",
                "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ])
        try #require(made.status == 0)
        let port = try FreePort.next()
        let said = directory.file("received")
        let server = try ChildProcess.start(
            "/usr/bin/openssl",
            ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate, "-key", key, "-alpn", "h2", "-quiet"]
                + options, output: .file(said))
        defer { server.terminate(grace: .zero) }
        try server.awaitListening(on: port)
        // Trusted, so that only the version is wrong; and not trusted, so that only the signer is.
        let trust = TrustRoots(systemRoots: true, files: options.isEmpty ? [] : [certificate])
        let driver = try PoolDriver(loop: try EventLoop(), port: port, trust: trust, tokens: try Tokens.source())
        try driver.turn { !driver.connectErrors.isEmpty }
        let error = try #require(driver.connectErrors.first)
        #expect(error.code == code)
        #expect(error.message.contains(words), "\(error)")
        server.terminate(grace: .zero)
        #expect(FileManager.default.contents(atPath: said)?.isEmpty ?? true)
    }
}
