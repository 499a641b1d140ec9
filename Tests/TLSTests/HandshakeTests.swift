import TLS
import TestSupport
import Testing

@Suite("TLS handshake", .timeLimit(.minutes(1)))
struct HandshakeTests {
    private let certificates: ThrowawayCertificates

    init() throws {
        certificates = try ThrowawayCertificates()
    }

    @Test("both sides agree on TLS 1.3 and h2, however the bytes arrive", arguments: [1, 7, 1000, .max])
    func complete(portion: Int) throws {
        let pair = try TLSPair(client: certificates.clientContext(), server: certificates.serverContext())
        try pair.shakeHands(portion: portion)
        for session in [pair.client, pair.server] {
            #expect(session.protocolVersion == "TLSv1.3")
            #expect(session.negotiatedProtocol == "h2")
        }
        #expect(pair.client.peerCertificateSubject == "CN=server")
        #expect(pair.server.peerCertificateSubject == nil)
    }

    @Test(
        "a certificate is good for its own names and addresses only",
        arguments: [
            (["localhost"], "localhost", true),
            (["localhost"], "LocalHost", true),
            (["localhost"], "localhost.", true),
            (["localhost"], "otherhost", false),
            (["localhost"], "127.0.0.1", false),
            (["127.0.0.1"], "127.0.0.1", true),
            (["127.0.0.1"], "127.0.0.2", false),
            (["127.0.0.1"], "localhost", false),
            (["::1"], "::1", true),
            (["::1"], "::2", false),
            (["*.example.com"], "push.example.com", true),
            (["*.example.com"], "example.com", false),
            (["*.example.com"], "a.push.example.com", false),
            (["p*.example.com"], "push.example.com", false),
            (["a.example", "b.example"], "b.example", true),
            // The common name is "server": it counts for nothing, names or none.
            ([], "server", false),
            (["localhost"], "server", false),
        ])
    func names(names: [String], serverName: String, isGood: Bool) throws {
        let pair = try TLSPair(
            client: certificates.clientContext(), server: certificates.serverContext(names: names),
            serverName: serverName)
        if isGood {
            try pair.shakeHands()
        } else {
            let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
            #expect(error?.code == .hostNameMismatch)
            #expect(error?.isRetriable == false)
        }
    }

    @Test("what cannot be a server's name is refused at once", arguments: ["", "a\0b", "local\0"])
    func impossibleName(name: String) throws {
        let context = try certificates.clientContext()
        let error = #expect(throws: TLSError.self) { _ = try TLSSession(client: context, serverName: name) }
        #expect(error?.code == .invalidName)
    }

    @Test("a certificate of an unknown authority is refused, and the server learns why")
    func unknownAuthority() throws {
        let other = try ThrowawayCertificates(name: "Other authority")
        let pair = try TLSPair(client: other.clientContext(), server: certificates.serverContext())
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .certificateUntrusted)
        // The alert waits to be sent, and the session stays broken.
        #expect(pair.client.pendingCiphertext > 0)
        #expect(throws: TLSError.self) { _ = try pair.client.handshake() }
        #expect(throws: TLSError.self) { try pair.client.write([1].span) }
        TLSPair.move(from: pair.client, to: pair.server)
        let alert = #expect(throws: TLSError.self) { _ = try pair.server.handshake() }
        #expect(alert?.code == .certificateRefused)
        #expect(alert?.message.contains("unknown ca") == true)
    }

    @Test(
        "nobody is trusted without roots, and the system's roots do not include ours",
        arguments: [false, true])
    func otherRoots(systemRoots: Bool) throws {
        let context = try TLSContext.client(
            trust: TrustRoots(systemRoots: systemRoots, files: []), identity: nil, applicationProtocols: ["h2"])
        let pair = try TLSPair(client: context, server: certificates.serverContext())
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .certificateUntrusted)
    }

    @Test("a certificate is good in its time only", arguments: [(-10, 5), (1, 5)])
    func validity(startInDays: Int, days: Int) throws {
        let identity = try certificates.server(days: days, notBeforeOffset: startInDays * 86_400)
        let server = try TLSContext.server(identity: identity, applicationProtocols: ["h2"], clientTrust: nil)
        let pair = try TLSPair(client: certificates.clientContext(), server: server)
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .certificateExpired)
    }

    @Test("a client's certificate does not make a server")
    func purpose() throws {
        let issued = try certificates.authority.issue(commonName: "c", names: ["localhost"], days: 1, client: true)
        let identity = try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM)
        let server = try TLSContext.server(identity: identity, applicationProtocols: ["h2"], clientTrust: nil)
        let pair = try TLSPair(client: certificates.clientContext(), server: server)
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .certificateUntrusted)
    }

    @Test("a server that is asked for other protocols only refuses, and both sides say so")
    func applicationProtocol() throws {
        let context = try TLSContext.client(
            trust: certificates.trust, identity: nil, applicationProtocols: ["http/1.1"])
        let pair = try TLSPair(client: context, server: certificates.serverContext())
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .applicationProtocol)
        TLSPair.move(from: pair.server, to: pair.client)
        let alert = #expect(throws: TLSError.self) { _ = try pair.client.handshake() }
        #expect(alert?.code == .applicationProtocol)
    }

    @Test("the server's preference decides between several protocols; without any there is no protocol")
    func protocolChoice() throws {
        func negotiate(client: [String], server: [String]) throws -> String? {
            let pair = try TLSPair(
                client: .client(trust: certificates.trust, identity: nil, applicationProtocols: client),
                server: .server(
                    identity: certificates.server(), applicationProtocols: server, clientTrust: nil))
            try pair.shakeHands()
            #expect(pair.client.negotiatedProtocol == pair.server.negotiatedProtocol)
            return pair.client.negotiatedProtocol
        }
        #expect(try negotiate(client: ["http/1.1", "h2"], server: ["h2", "http/1.1"]) == "h2")
        #expect(try negotiate(client: [], server: ["h2"]) == nil)
        #expect(try negotiate(client: ["h2"], server: []) == nil)
    }

    @Test("a client that speaks TLS 1.1 at most is refused with an alert")
    func oldClient() throws {
        let server = try TLSSession(server: certificates.serverContext())
        server.receive(Self.clientHello(version: 0x0302).span)
        let error = #expect(throws: TLSError.self) { _ = try server.handshake() }
        #expect(error?.code == .protocolVersion)
        #expect(Self.pending(of: server).suffix(2) == [2, 70])
    }

    @Test("a server that answers with TLS 1.1 is refused with an alert", arguments: [0x0301, 0x0302] as [UInt16])
    func oldServer(version: UInt16) throws {
        let client = try TLSSession(client: certificates.clientContext(), serverName: "localhost")
        #expect(try !client.handshake())
        _ = Self.pending(of: client)
        client.receive(Self.serverHello(version: version).span)
        let error = #expect(throws: TLSError.self) { _ = try client.handshake() }
        #expect(error?.code == .protocolVersion)
        #expect(Self.pending(of: client).suffix(2) == [2, 70])
    }

    @Test(
        "bytes that are not TLS are an error, not a trap",
        arguments: [
            "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "AMQP\0\0\u{9}\u{1}",
            "\0\0\0\0\0\0\0\0",
        ])
    func foreignBytes(text: String) throws {
        let server = try TLSSession(server: certificates.serverContext())
        server.receive(Array(text.utf8).span)
        #expect(throws: TLSError.self) { _ = try server.handshake() }
        let client = try TLSSession(client: certificates.clientContext(), serverName: "localhost")
        _ = try client.handshake()
        client.receive(Array(text.utf8).span)
        #expect(throws: TLSError.self) { _ = try client.handshake() }
    }

    @Test("sessions and contexts are let go, unused, half way and after use")
    func leaks() throws {
        weak var contexts: TLSContext?
        for stage in 0..<3 {
            weak var client: TLSSession?
            weak var server: TLSSession?
            do {
                let context = try certificates.clientContext()
                contexts = context
                let pair = try TLSPair(client: context, server: certificates.serverContext())
                client = pair.client
                server = pair.server
                if stage == 1 { _ = try pair.client.handshake() }
                if stage == 2 { try pair.shakeHands() }
            }
            #expect(client == nil)
            #expect(server == nil)
            #expect(contexts == nil)
        }
    }

    /// Takes all ciphertext that waits.
    private static func pending(of session: TLSSession) -> [UInt8] {
        var bytes: [UInt8] = []
        session.withPendingCiphertext { (span: Span<UInt8>) -> Int in
            for index in span.indices { bytes.append(span[index]) }
            return span.count
        }
        return bytes
    }

    /// A ClientHello without extensions (RFC 4346, 7.4.1.2): the given version is the newest it knows.
    private static func clientHello(version: UInt16) -> [UInt8] {
        let suites: [UInt8] = [0xc0, 0x13, 0xc0, 0x14, 0x00, 0x2f, 0x00, 0x35]
        var body = [UInt8(version >> 8), UInt8(version & 0xff)] + [UInt8](repeating: 7, count: 32) + [0]
        body += [0, UInt8(suites.count)] + suites + [1, 0]
        return record(handshake: 1, body)
    }

    /// A ServerHello without extensions (RFC 4346, 7.4.1.3).
    private static func serverHello(version: UInt16) -> [UInt8] {
        var body = [UInt8(version >> 8), UInt8(version & 0xff)] + [UInt8](repeating: 7, count: 32)
        body += [0, 0xc0, 0x13, 0]
        return record(handshake: 2, body)
    }

    private static func record(handshake kind: UInt8, _ body: [UInt8]) -> [UInt8] {
        let message = [kind, 0, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
        return [22, 3, 1, UInt8(message.count >> 8), UInt8(message.count & 0xff)] + message
    }
}
