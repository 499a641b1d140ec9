import BrokerClient
import LocalStack
import TestSupport
import Testing

@testable import RabbitMQ

/// Authorities and certificates made with the openssl program, and a broker that insists on client certificates.
private struct TLSBroker {
    let directory: TemporaryDirectory
    let broker: PrivateBroker

    init() throws {
        directory = try TemporaryDirectory(prefix: "martlet-amqps")
        try Self.makeAuthority("ca", in: directory)
        try Self.makeAuthority("other", in: directory)
        try Self.issue("server", names: "DNS:localhost,IP:127.0.0.1", in: directory)
        try Self.issue("client", names: "DNS:client", in: directory)
        try Self.openssl(
            "rsa", "-aes128", "-passout", "pass:secret", "-in", directory.file("client.key"), "-out",
            directory.file("locked.key"))
        broker = try PrivateBroker.start(
            PrivateBrokerOptions(
                tls: .init(
                    authorityFile: directory.file("ca.pem"), certificateFile: directory.file("server.pem"),
                    keyFile: directory.file("server.key")),
                configuration: ["ssl_options.fail_if_no_peer_cert = true"]))
    }

    static func openssl(_ arguments: String...) throws {
        let outcome = try ChildProcess.run("/usr/bin/openssl", arguments)
        guard outcome.status == 0 else { throw AMQPError(.tls, "openssl: \(outcome.errorText)") }
    }

    static func makeAuthority(_ name: String, in directory: TemporaryDirectory) throws {
        try openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-keyout",
            directory.file("\(name).key"), "-out", directory.file("\(name).pem"))
    }

    static func issue(_ name: String, names: String, in directory: TemporaryDirectory) throws {
        try openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)",
            "-keyout", directory.file("\(name).key"), "-out", directory.file("\(name).csr"))
        try openssl(
            "x509", "-req", "-days", "2", "-copy_extensions", "copy", "-CA", directory.file("ca.pem"), "-CAkey",
            directory.file("ca.key"), "-CAcreateserial", "-in", directory.file("\(name).csr"), "-out",
            directory.file("\(name).pem"))
    }

    func endpoint(host: String = "localhost", ca: String? = "ca", cert: String? = "client", key: String? = nil)
        -> AMQPEndpoint
    {
        var endpoint = AMQPEndpoint(host: host, port: broker.tlsPort, useTLS: true)
        endpoint.tls.caFile = ca.map { directory.file("\($0).pem") }
        endpoint.tls.certFile = cert.map { directory.file("\($0).pem") }
        endpoint.tls.keyFile = (key ?? cert).map { directory.file("\($0).key") }
        return endpoint
    }
}

@Suite("Against a RabbitMQ with TLS", .serialized, .timeLimit(.minutes(2)))
struct LiveBrokerTLSTests {
    private static let started = Result { try TLSBroker() }

    @Test("messages go through TLS with verified names and addresses", arguments: ["localhost", "127.0.0.1"])
    func works(host: String) throws {
        let client = try AMQPBlockingClient.connect(Self.started.get().endpoint(host: host), clientName: "tls")
        defer { client.close() }
        let queue = try client.declareQueue(exclusive: true)
        var message = OutgoingMessage()
        message.setRoutingKey(Array(queue.utf8).span)
        message.setBody([UInt8](repeating: 9, count: 300_000).span)
        for _ in 0..<20 { _ = try client.submit(message) }
        #expect(try client.flush().allSatisfy { $0.result == .confirmed })
        try client.startConsuming(queue: queue, prefetch: 3)
        for _ in 0..<20 {
            let delivery = try #require(try client.receive(timeout: .seconds(10)))
            #expect(delivery.body.count == 300_000)
            try client.acknowledge(delivery)
        }
    }

    @Test("the name to check may differ from the host")
    func overridesName() throws {
        var endpoint = try Self.started.get().endpoint(host: "127.0.0.1")
        endpoint.serverName = "localhost"
        try AMQPBlockingClient.connect(endpoint, clientName: "tls").close()
    }

    private func failure(_ change: (inout AMQPEndpoint) -> Void) throws -> AMQPError? {
        var endpoint = try Self.started.get().endpoint()
        change(&endpoint)
        let error = #expect(throws: AMQPError.self) {
            try LiveConnection.open(endpoint)
        }
        #expect(error?.code == .tls)
        return error
    }

    @Test("a broker with another name is refused")
    func refusesName() throws {
        let error = try failure { $0.serverName = "elsewhere.example" }
        #expect(error?.message.contains("hostname mismatch") == true, "\(error as Any)")
    }

    @Test("a broker of an unknown authority is refused, also with the system's authorities")
    func refusesAuthority() throws {
        let other = try Self.started.get().directory.file("other.pem")
        for file in [other, nil] {
            let error = try failure { $0.tls.caFile = file }
            #expect(error?.message.contains("not acceptable") == true, "\(error as Any)")
        }
    }

    @Test("a missing client certificate is reported, in the broker's words where they arrive")
    func needsClientCertificate() throws {
        let error = try failure {
            $0.tls.certFile = nil
            $0.tls.keyFile = nil
        }
        let words = error?.message ?? ""
        #expect(words.contains("certificate required") || words.contains("want a client certificate"), "\(words)")
    }

    @Test("unreadable files are named")
    func namesFiles() throws {
        let directory = try Self.started.get().directory
        #expect(try failure { $0.tls.caFile = "/missing/ca.pem" }?.message.contains("/missing/ca.pem") == true)
        #expect(try failure { $0.tls.certFile = "/missing/c.pem" }?.message.contains("/missing/c.pem") == true)
        #expect(try failure { $0.tls.keyFile = directory.file("locked.key") }?.message.contains("encrypted") == true)
        let mixed = try failure { $0.tls.keyFile = directory.file("server.key") }
        #expect(mixed?.message.contains("key") == true, "\(mixed as Any)")
    }

    @Test("a port without TLS is an error in words")
    func plainPort() throws {
        let broker = try Self.started.get().broker
        let error = try failure { $0.port = broker.port }
        #expect(error?.message.contains("TLS handshake") == true, "\(error as Any)")
    }
}
