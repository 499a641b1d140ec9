import EventLoop
import HTTP2
import PushModel
import TLS
import TestSupport
import Testing

@testable import APNSClient

@Suite("A pool whose credential is refused after it was accepted", .timeLimit(.minutes(1)))
struct PoolDoubtTests {
    /// Sends so many as a route does: what was not processed goes out again at once, ahead of everything else.
    private func send(_ count: Int, _ ring: Ring, until isOver: () -> Bool = { false }) throws {
        let job = try Jobs.make()
        var owed = Array(0..<count)
        ring.onAnswer = { tag, answer in if answer.isUnprocessed { owed.insert(tag, at: 0) } }
        try ring.turn {
            isOver() || (owed.isEmpty && ring.pool.openStreams == 0)
        } everyTurn: {
            while let tag = owed.first, ring.pool.submit(job, index: 0, tag: tag, now: .now()) { owed.removeFirst() }
        }
    }

    @Test(
        "One refusal among many pushes costs one connection and no push, with a key and with a certificate",
        arguments: ["InvalidProviderToken", "BadCertificate", "Forbidden", "SomethingNew"], [true, false])
    func once(reason: String, hasKey: Bool) throws {
        let ring = try Ring(tokens: hasKey ? try Tokens.source() : nil)
        try send(100, ring)
        var refusals = 0
        ring.server.script = { request in
            guard request.connection == 0, refusals == 0 else { return [.respond(200)] }
            refusals += 1
            return [.respond(403, #"{"reason":"\#(reason)"}"#)]
        }
        try send(100, ring)
        #expect(refusals == 1 && ring.events == [.doubted(version: 1, reason: reason)])
        #expect(ring.statuses.count { $0 == 200 } == 200 && ring.statuses.count { $0 == 0 } == 1)
        #expect(ring.server.accepted == 2)
        try ring.turn { ring.server.connections.count == 1 }
    }

    @Test("GOAWAY that refuses the credential on a connection that has had pushes accepted is not believed")
    func goAway() throws {
        let ring = try Ring()
        try send(100, ring)
        var farewells = 0
        ring.server.script = { request in
            guard request.connection == 0, farewells == 0 else { return [.respond(200)] }
            farewells += 1
            return [.goAway(last: 0, .noError, debug: #"{"reason":"InvalidProviderToken"}"#)]
        }
        try send(100, ring)
        try ring.turn { ring.server.connections.count == 1 }
        #expect(farewells == 1)
        guard case .doubted(version: 1, reason: let reason)? = ring.events.first, ring.events.count == 1 else {
            Issue.record("\(ring.events)")
            return
        }
        #expect(reason.contains("InvalidProviderToken"))
    }

    @Test("A revoked key is asked with one push on a new connection, and then no more", arguments: [true, false])
    func revoked(hasKey: Bool) throws {
        let ring = try Ring(tokens: hasKey ? try Tokens.source() : nil)
        try send(10, ring)
        ring.server.script = { _ in [.respond(403, #"{"reason":"InvalidProviderToken"}"#)] }
        try send(200, ring) { ring.events.count == 2 }
        let reason = "InvalidProviderToken"
        #expect(
            ring.events == [
                .doubted(version: 1, reason: reason), .refused(version: 1, reason: reason, concerns: .everyRoute),
            ])
        #expect(ring.server.requests.count { $0.connection == 1 } == 1)
        try ring.turn { ring.server.connections.isEmpty }
        #expect(ring.pool.status.connecting == 0 && ring.server.accepted == 2)
    }

    @Test("While a refusal is doubted, a new connection has one push until its answer", arguments: [true, false])
    func beginsWithOne(hasKey: Bool) throws {
        let ring = try Ring(tokens: hasKey ? try Tokens.source() : nil)
        try send(10, ring)
        ring.server.script = { request in
            request.connection == 0 ? [.respond(403, #"{"reason":"InvalidProviderToken"}"#)] : []
        }
        // The server's settings are there long before these turns are over.
        var turns = 0
        try send(200, ring) {
            if ring.server.requests.contains(where: { $0.connection == 1 }) { turns += 1 }
            return turns > 50
        }
        #expect(ring.server.requests.count { $0.connection == 1 } == 1)
    }

    @Test("The tenth connection within a minute that refuses what it accepted counts as a refusal")
    func often() throws {
        let ring = try Ring()
        // Each connection accepts one push and refuses the others.
        ring.server.script = { request in
            request.number == 0 ? [.respond(200)] : [.respond(403, #"{"reason":"InvalidProviderToken"}"#)]
        }
        try send(1_000, ring) { ring.events.count == 10 }
        #expect(
            ring.events.last == .refused(version: 1, reason: "InvalidProviderToken", concerns: .everyRoute))
        #expect(ring.events.count { if case .doubted = $0 { true } else { false } } == 9)
        #expect(ring.server.accepted == 10)
    }
}
