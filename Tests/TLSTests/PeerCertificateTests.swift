import TLS
import TestSupport
import Testing

@Suite("TLS client certificates", .timeLimit(.minutes(1)))
struct PeerCertificateTests {
    private let certificates: ThrowawayCertificates

    init() throws {
        certificates = try ThrowawayCertificates()
    }

    @Test("a server that asks sees the client's subject, user identifier included")
    func shown() throws {
        let identity = try certificates.client(commonName: "Apple Push: Größe", userID: "com.example.app")
        let pair = try TLSPair(
            client: certificates.clientContext(identity: identity),
            server: certificates.serverContext(asksForCertificates: true))
        try pair.shakeHands()
        #expect(pair.server.peerCertificateSubject == "UID=com.example.app,CN=Apple Push: Größe")
        #expect(identity.subject == "UID=com.example.app,CN=Apple Push: Größe")
    }

    @Test("a client without a certificate is let in, with no subject")
    func absent() throws {
        let pair = try TLSPair(
            client: certificates.clientContext(), server: certificates.serverContext(asksForCertificates: true))
        try pair.shakeHands()
        #expect(pair.server.peerCertificateSubject == nil)
    }

    @Test("a server that does not ask sees nothing")
    func notAsked() throws {
        let pair = try TLSPair(
            client: certificates.clientContext(identity: certificates.client()),
            server: certificates.serverContext())
        try pair.shakeHands()
        #expect(pair.server.peerCertificateSubject == nil)
    }

    @Test("a certificate of a foreign authority is refused, and the client learns it when it reads")
    func foreign() throws {
        let other = try ThrowawayCertificates(name: "Other authority")
        let pair = try TLSPair(
            client: certificates.clientContext(identity: other.client()),
            server: certificates.serverContext(asksForCertificates: true))
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .certificateUntrusted)
        TLSPair.move(from: pair.server, to: pair.client)
        // In TLS 1.3 the client had finished before the server looked at its certificate.
        #expect(try pair.client.handshake())
        let alert = #expect(throws: TLSError.self) { _ = try TLSPair.drain(pair.client) }
        #expect(alert?.code == .certificateRefused)
    }

    @Test("an expired certificate is refused")
    func expired() throws {
        let identity = try certificates.client(days: 5, notBeforeOffset: -10 * 86_400)
        let pair = try TLSPair(
            client: certificates.clientContext(identity: identity),
            server: certificates.serverContext(asksForCertificates: true))
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .certificateExpired)
    }

    @Test("a server's certificate does not make a client")
    func purpose() throws {
        let pair = try TLSPair(
            client: certificates.clientContext(identity: certificates.server()),
            server: certificates.serverContext(asksForCertificates: true))
        let error = #expect(throws: TLSError.self) { try pair.shakeHands() }
        #expect(error?.code == .certificateUntrusted)
    }
}
