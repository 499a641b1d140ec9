import EventLoop
import Foundation
import LocalStack
import Logging
import ServiceLifecycle
import TLS
import TestSupport
import Testing
import WorkerSettings

@testable import PushWorker

/// A worker of one route, for which one job waits.
@Suite("What a worker says about trust", .timeLimit(.minutes(1)))
struct WorkerTrustTests {
    private let apple: AppleStyleCertificates
    private let certificates: DemoCertificates

    init() throws {
        apple = try AppleStyleCertificates()
        certificates = try DemoCertificates(in: apple.directory)
    }

    /// Runs a worker, and gives the state of its only route whenever asked.
    private func withWorker(
        port: Int, trust: String?, _ credential: String,
        _ body: (Worker, () -> WorkerReadiness.Route) async throws -> Void
    ) async throws {
        let broker = try FakeBroker(
            FakeBroker.Behaviour(queue: "apns.q.jobs.shop", key: "production.normal.com.example.app"))
        defer { broker.stop() }
        let file = try apple.directory.write(
            """
            broker: { uri: "amqp://127.0.0.1:\(broker.port)/" }
            apns: { production: "https://localhost:\(port)", trust_file: \(trust ?? "null") }
            credentials:
              - { name: c, \(credential) }
            routes:
              - { name: shop, environment: production, topics: [com.example.app], credential: c }
            """, to: "martlet.yaml")
        let configuration = try ConfigurationLoader.load(file: file, environment: [:]).get()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let worker = try Worker(
            configuration: configuration, version: "test", logger: logger, credentialInterval: .milliseconds(20))
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: Running(worker: worker))], logger: logger))
        let task = Task { try await group.run() }
        try await body(worker) {
            worker.readiness().routes.first { $0.name == "shop" }
                ?? WorkerReadiness.Route(name: "", state: "", connections: 0)
        }
        await group.triggerGracefulShutdown()
        try await task.value
    }

    private struct Running: Service {
        let worker: Worker

        func run() async throws { try await worker.run() }
    }

    /// An HTTP/2 server of somebody else's that demands client certificates.
    private func server() throws -> (process: ChildProcess, port: Int) {
        let port = try FreePort.next()
        let process = try ChildProcess.start(
            "/usr/sbin/nghttpd",
            ["-a", "127.0.0.1", "--verify-client", "\(port)", certificates.keyFile, certificates.certificateFile])
        try process.awaitListening(on: port)
        return (process, port)
    }

    /// Waits until the state of the route is so; yields, for the worker runs on threads of its own.
    private func wait(
        _ route: () -> WorkerReadiness.Route, until condition: (WorkerReadiness.Route) -> Bool
    ) async throws {
        while !condition(route()) { try await yieldUnlessOver() }
    }

    @Test("an expired certificate parks its route with the reason, connects to nobody, and ends with its replacement")
    func expired() async throws {
        var content = AppleStyleCertificates.Content()
        content.notBefore = "20240101000000Z"
        content.notAfter = "20250101000000Z"
        let old = try apple.issue("old", content)
        let new = try apple.issue("new")
        let server = try server()
        let credential = "kind: certificate, cert_file: old.pem, key_file: old.key"
        try await withWorker(port: server.port, trust: certificates.authorityFile, credential) { worker, route in
            try await wait(route) { $0.state == "parked" }
            #expect(route().reason == "parked: the certificate of c expired 2025-01-01 00:00:00 UTC: replace its file")
            #expect(route().connections == 0)
            #expect(worker.readiness().reasons.contains { $0.contains("shop: parked: the certificate of c expired") })
            try #require(Foundation.rename(new.keyFile, old.keyFile) == 0)
            try #require(Foundation.rename(new.certificateFile, old.certificateFile) == 0)
            try await wait(route) { $0.connections == 1 }
            #expect(route().credentialVersion == 2)
        }
    }

    @Test("a server nobody vouches for is not connected to, and the route says why")
    func untrusted() async throws {
        try apple.issue("push")
        let server = try server()
        let credential = "kind: certificate, cert_file: push.pem, key_file: push.key"
        try await withWorker(port: server.port, trust: nil, credential) { _, route in
            try await wait(route) { $0.reason?.contains("certificate is refused") == true }
            #expect(route().state == "unreachable")
            #expect(route().reason?.contains("localhost:\(server.port) at 127.0.0.1:\(server.port)") == true)
            #expect(route().connections == 0)
        }
    }

    @Test("a server that refuses the certificate parks the route with its words")
    func refused() async throws {
        try apple.issue("push")
        let port = try FreePort.next()
        // Trusts the server's own authority only, which did not issue the push certificate.
        let server = try ChildProcess.start(
            "/usr/bin/openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificates.certificateFile, "-key",
                certificates.keyFile, "-alpn", "h2", "-Verify", "3", "-verify_return_error", "-CAfile",
                certificates.authorityFile, "-quiet",
            ])
        defer { server.terminate(grace: .zero) }
        try server.awaitListening(on: port)
        let credential = "kind: certificate, cert_file: push.pem, key_file: push.key"
        try await withWorker(port: port, trust: certificates.authorityFile, credential) { _, route in
            try await wait(route) { $0.state == "parked" }
            #expect(route().reason?.contains("parked: APNs refuses the credential c: ") == true)
            #expect(route().reason?.contains("refused our certificate") == true)
        }
    }
}
