import EventLoop
import Foundation
import HTTP2
import LocalStack
import PushModel
import TLS
import TestSupport
import Testing

@testable import APNSClient

@Suite("A pool with a client certificate", .timeLimit(.minutes(1)))
struct PoolCertificateTests {
    private let server: ThrowawayCertificates
    private let apple: AppleStyleCertificates

    init() throws {
        server = try ThrowawayCertificates()
        apple = try AppleStyleCertificates()
        try apple.issue("push")
    }

    /// A server that believes this authority's certificates, and refuses any other.
    private func context() throws -> TLSContext {
        try .server(
            identity: try server.server(), applicationProtocols: ["h2"],
            clientTrust: TrustRoots(systemRoots: false, files: [apple.authorityFile]))
    }

    private func credential(
        _ identity: CertificateIdentity?, version: Int = 1, onlyTopic: String? = nil
    ) throws -> APNSCredential {
        APNSCredential(
            name: "cert", version: version, context: try server.clientContext(identity: identity),
            onlyTopic: onlyTopic)
    }

    private func identity(_ name: String) throws -> CertificateIdentity {
        try CertificateIdentity(
            certificateFile: apple.directory.file("\(name).pem"), keyFile: apple.directory.file("\(name).key"))
    }

    @Test("Pushes carry the certificate of the connection and no provider token, from the first one at full width")
    func pushes() throws {
        let ring = try Ring(credential: try credential(try identity("push")), context: try context())
        try ring.connect()
        #expect(ring.pool.capacity > 1)
        try ring.send(try Jobs.make(), count: 200)
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        #expect(ring.server.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(ring.server.requests.allSatisfy { $0.headers["apns-topic"] == "com.example.app" })
        #expect(ring.server.connections.first?.peerSubject == "CN=Apple Push Services: push,UID=com.example.app")
    }

    @Test(
        "The topic is left out only where the route asks, and only where it is the certificate's only one",
        arguments: [
            (true, "com.example.app", "com.example.app", nil),
            (false, "com.example.app", "com.example.app", "com.example.app"),
            (true, nil, "com.example.app", "com.example.app"),
            (true, "com.example.app", "com.example.app.voip", "com.example.app.voip"),
            (true, "com.example.app.voip", "com.example.app.voip", nil),
        ] as [(Bool, String?, String, String?)])
    func topic(omits: Bool, only: String?, topic: String, expected: String?) throws {
        let credential = try credential(try identity("push"), onlyTopic: only)
        let ring = try Ring(credential: credential, context: try context()) { $0.omitsOnlyTopic = omits }
        try ring.send(try Jobs.make(topic: topic), count: 3)
        #expect(ring.server.requests.count == 3)
        #expect(ring.server.requests.allSatisfy { $0.headers["apns-topic"] == expected })
    }

    @Test("A certificate the server does not believe is refused with an alert: no push leaves, nothing is retried")
    func refused() throws {
        let stranger = try ThrowawayCertificates(name: "Stranger").client(userID: "com.example.app")
        let ring = try Ring(credential: try credential(stranger), context: try context())
        try ring.turn { !ring.events.isEmpty }
        guard case .refused(version: 1, let reason, .everyRoute)? = ring.events.first else { throw Ring.TimedOut() }
        #expect(reason.contains("refused our certificate"))
        try ring.turn { ring.pool.connections.all.isEmpty }
        let accepted = ring.server.accepted
        ring.refuses(try Jobs.make(), tag: 1)
        #expect(ring.pool.status.connecting == 0)
        #expect(ring.server.accepted == accepted)
        #expect(ring.server.requests.isEmpty)
        #expect(ring.pool.status.lastError?.isRetriable == false)
    }

    @Test("A new certificate proves itself with one push, then the others follow")
    func rotation() throws {
        try apple.issue("next")
        let ring = try Ring(credential: try credential(try identity("push")), context: try context())
        let job = try Jobs.make()
        try ring.send(job, count: 20)
        ring.pool.offer(try credential(try identity("next"), version: 2), now: .now())
        try ring.turn { ring.pool.status.proving == 1 }
        try ring.send(job, count: 20)
        try ring.turn { ring.events == [.switched(version: 2)] && ring.server.connections.count == 1 }
        try ring.send(job, count: 20)
        #expect(ring.server.connections.first?.peerSubject == "CN=Apple Push Services: next,UID=com.example.app")
        #expect(ring.statuses.allSatisfy { $0 == 200 })
    }

    /// A ring with nothing to send, whose new certificate has its connection and is used.
    private func idle() throws -> Ring {
        try apple.issue("next")
        let ring = try Ring(credential: try credential(try identity("push")), context: try context())
        try ring.send(try Jobs.make(), count: 5)
        ring.hasBacklog = false
        ring.pool.offer(try credential(try identity("next"), version: 2), now: .now())
        try ring.turn { ring.events == [.tried(version: 2)] && ring.server.connections.count == 1 }
        #expect(ring.server.requests.count == 5, "nothing was sent for it")
        #expect(ring.pool.credential.version == 2 && ring.pool.provingVersion == 2)
        #expect(ring.server.connections.first?.peerSubject?.hasPrefix("CN=Apple Push Services: next") == true)
        return ring
    }

    @Test("Where nothing is to be sent a new certificate is used once its connection works, and the old one closes")
    func idleRotation() throws {
        let ring = try idle()
        try ring.send(try Jobs.make(), count: 20)
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        #expect(ring.events == [.tried(version: 2), .switched(version: 2)])
        #expect(ring.pool.provingVersion == nil && ring.server.accepted == 2)
    }

    @Test(
        "If the first answer refuses it, the old certificate comes back and the notification is sent again",
        arguments: [("BadCertificateEnvironment", true), ("SomethingNew", false)])
    func idleRefusal(reason: String, isFinal: Bool) throws {
        let ring = try idle()
        ring.server.script = { [server = ring.server] request in
            let peer = server.connections.first { $0.number == request.connection }?.peerSubject ?? ""
            return peer.contains("next") ? [.respond(403, #"{"reason":"\#(reason)"}"#)] : [.respond(200)]
        }
        let job = try Jobs.make()
        var owed = Array(0..<10)
        var attempts = 0
        ring.onAnswer = { tag, answer in if answer.isUnprocessed { owed.insert(tag, at: 0) } }
        try ring.turn {
            (owed.isEmpty && ring.pool.openStreams == 0) || attempts > 1_000
        } everyTurn: {
            while let tag = owed.first, ring.pool.submit(job, index: 0, tag: tag, now: .now()) {
                owed.removeFirst()
                attempts += 1
            }
        }
        #expect(attempts == 11 && !ring.statuses.contains(403), "\(attempts)")
        #expect(ring.pool.credential.version == 1)
        #expect(ring.pool.provingVersion == (isFinal ? nil : 2), "what is not final is tried again later")
        let refusals: [CredentialEvent] = isFinal ? [.candidateRefused(version: 2, reason: reason)] : []
        #expect(ring.events == [.tried(version: 2)] + refusals)
    }

    @Test("A new certificate that the server refuses with an alert changes nothing")
    func refusedCandidate() throws {
        for hasBacklog in [true, false] { try refusedCandidate(hasBacklog: hasBacklog) }
    }

    private func refusedCandidate(hasBacklog: Bool) throws {
        let ring = try Ring(credential: try credential(try identity("push")), context: try context())
        let job = try Jobs.make()
        try ring.send(job, count: 20)
        ring.hasBacklog = hasBacklog
        let stranger = try ThrowawayCertificates(name: "Stranger").client(userID: "com.example.app")
        ring.pool.offer(try credential(stranger, version: 2), now: .now())
        try ring.turn { !ring.events.isEmpty }
        guard case .candidateRefused(version: 2, let reason)? = ring.events.first else { throw Ring.TimedOut() }
        #expect(reason.contains("refused our certificate"))
        try ring.send(job, count: 20)
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        #expect(ring.server.connections.count == 1)
    }

    @Test(
        "GOAWAY with a credential's reason counts as its refusal, for every route or for this one",
        arguments: [
            ("BadCertificateEnvironment", .oneRoute), ("BadCertificate", .everyRoute),
        ] as [(String, CredentialVerdict.RefusalScope)])
    func goAway(_ named: String, _ scope: CredentialVerdict.RefusalScope) throws {
        let ring = try Ring(credential: try credential(try identity("push")), context: try context())
        ring.server.script = { _ in
            [.goAway(last: 0, .noError, debug: #"{"reason":"\#(named)"}"#)]
        }
        try ring.send(try Jobs.make(), count: 1)
        try ring.turn { !ring.events.isEmpty }
        guard case .refused(version: 1, let reason, scope)? = ring.events.first else { throw Ring.TimedOut() }
        #expect(reason.contains(named))
        #expect(ring.answers.first?.answer.isUnprocessed == true)
        #expect(ring.pool.status.connecting == 0)
    }
}
