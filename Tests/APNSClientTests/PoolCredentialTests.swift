import EventLoop
import Foundation
import HTTP2
import PushModel
import TLS
import TestSupport
import Testing
import Text

@testable import APNSClient

@Suite("A pool and its credential", .timeLimit(.minutes(1)))
struct PoolCredentialTests {
    /// Versions of a credential with a provider token key each, for one authority.
    private struct Versions {
        let certificates: ThrowawayCertificates
        let context: TLSContext

        init() throws {
            certificates = try ThrowawayCertificates()
            context = try certificates.clientContext()
        }

        func make(_ version: Int, keyID: String, teamID: String = "DEF123GHIJ") throws -> APNSCredential {
            APNSCredential(
                name: "key", version: version, context: context,
                tokens: ProviderTokenSource(keyID: keyID, teamID: teamID, key: try .generate()))
        }

        func ring(_ credential: APNSCredential, connections: Int = 1) throws -> Ring {
            try Ring(credential: credential, context: try certificates.serverContext()) {
                $0.connections = .fixed(connections)
            }
        }
    }

    /// The key and team in a request's provider token.
    private static func signer(_ request: SeenRequest) throws -> String {
        let token = try #require(request.headers["authorization"]).dropFirst("bearer ".count)
        return try token.split(separator: ".").prefix(2).map { part in
            let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
            let data = try #require(Data(base64Encoded: padded))
            let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            return object["kid"] as? String ?? object["iss"] as? String ?? ""
        }.joined(separator: "/")
    }

    @Test("A new key proves itself with one notification before the others follow, and the old connections finish")
    func rotation() throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"), connections: 2)
        let job = try Jobs.make()
        try ring.send(job, count: 50)
        var heldBack: [Int32] = []
        ring.server.script = { request in
            guard (try? Self.signer(request)) == "NEWKEY0001/DEF123GHIJ", heldBack.isEmpty else {
                return [.respond(200)]
            }
            heldBack.append(request.streamID)
            return []
        }
        ring.pool.offer(try versions.make(2, keyID: "NEWKEY0001"), now: .now())
        #expect(ring.pool.provingVersion == 2)
        var sent = 0
        try ring.turn {
            heldBack.count == 1
        } everyTurn: {
            if ring.pool.submit(job, index: 0, tag: 1_000 + sent, now: .now()) { sent += 1 }
        }
        try ring.turn { ring.pool.openStreams == 1 }
        // While the answer is out, all others take the old key.
        try ring.send(job, count: 20)
        #expect(ring.pool.credential.version == 1)
        let proving = try #require(ring.server.requests.last { (try? Self.signer($0)) == "NEWKEY0001/DEF123GHIJ" })
        #expect(ring.server.requests.filter { $0.connection == proving.connection }.count == 1)
        let peer = try #require(ring.server.connections.first { $0.number == proving.connection })
        peer.perform([.respond(200)], on: proving.streamID)
        peer.flush()
        try ring.turn { ring.events == [.switched(version: 2)] }
        let before = ring.server.requests.count
        try ring.send(job, count: 20)
        #expect(try ring.server.requests[before...].allSatisfy { try Self.signer($0) == "NEWKEY0001/DEF123GHIJ" })
        try ring.turn {
            let status = ring.pool.status
            return status.draining == 0 && status.open + status.proving == 2
        }
        #expect(ring.server.connections.count == 2)
        #expect(ring.statuses.allSatisfy { $0 == 200 })
    }

    @Test(
        "A new key that is refused costs no notification, and the old one goes on",
        arguments: [(403, "InvalidProviderToken"), (403, "BadEnvironmentKeyIdInToken"), (403, "Forbidden")])
    func refusedCandidate(status: Int, reason: String) throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"))
        let job = try Jobs.make()
        try ring.send(job, count: 5)
        ring.server.script = { request in
            (try? Self.signer(request)) == "BADKEY0001/DEF123GHIJ"
                ? [.respond(status, #"{"reason":"\#(reason)"}"#)] : [.respond(200)]
        }
        ring.pool.offer(try versions.make(2, keyID: "BADKEY0001"), now: .now())
        try ring.turn {
            !ring.events.isEmpty
        } everyTurn: {
            _ = ring.pool.submit(job, index: 0, tag: 7, now: .now())
        }
        #expect(ring.events == [.candidateRefused(version: 2, reason: reason)])
        try ring.turn { ring.answers.contains { $0.answer.isUnprocessed } }
        try ring.turn { ring.pool.openStreams == 0 }
        let answered = ring.answers.count
        try ring.send(job, count: 20)
        #expect(ring.answers[answered...].allSatisfy { $0.answer.response?.status == 200 })
        #expect(!ring.statuses.contains(status))
        #expect(ring.pool.credential.version == 1 && ring.pool.provingVersion == nil)
        try ring.turn { ring.server.connections.count == 1 }
    }

    @Test("A new key that was refused too early is used in the end, when the old one is revoked")
    func refusedTooEarly() throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"))
        let job = try Jobs.make()
        try ring.send(job, count: 5)
        var revoked = "NEWKEY0001/DEF123GHIJ"
        ring.server.script = { request in
            (try? Self.signer(request)) == revoked
                ? [.respond(403, #"{"reason":"InvalidProviderToken"}"#)] : [.respond(200)]
        }
        ring.pool.offer(try versions.make(2, keyID: "NEWKEY0001"), now: .now())
        func push(until condition: () -> Bool) throws {
            try ring.turn(until: condition) { _ = ring.pool.submit(job, index: 0, tag: 7, now: .now()) }
        }
        try push { ring.events.count == 1 }
        #expect(ring.pool.spare?.version == 2 && ring.pool.credential.version == 1)
        revoked = "OLDKEY0001/DEF123GHIJ"
        try push { ring.events.count == 3 }
        #expect(ring.events[1] == .doubted(version: 1, reason: "InvalidProviderToken"))
        #expect(ring.events.last == .refused(version: 1, reason: "InvalidProviderToken", concerns: .everyRoute))
        try ring.turn { ring.pool.openStreams == 0 }
        ring.pool.retryCredential(now: .now())
        #expect(ring.events.last == .retried(version: 2))
        try ring.send(job, count: 5)
        #expect(ring.statuses.suffix(5).allSatisfy { $0 == 200 } && ring.pool.credential.version == 2)
    }

    @Test("A new key that meets a refusal nobody knows asks once, and the notification goes out with the old one")
    func unknownRefusal() throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"))
        let job = try Jobs.make()
        try ring.send(job, count: 5)
        ring.server.script = { request in
            (try? Self.signer(request)) == "NEWKEY0001/DEF123GHIJ"
                ? [.respond(403, #"{"reason":"SomethingNew"}"#)] : [.respond(200)]
        }
        ring.pool.offer(try versions.make(2, keyID: "NEWKEY0001"), now: .now())
        try ring.turn { ring.pool.status.proving == 1 }
        // As a route does: what was not processed goes out again at once, ahead of everything else.
        var owed = Array(0..<50)
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
        #expect(attempts == 51)
        #expect(ring.statuses.count { $0 == 200 } == 55 && !ring.statuses.contains(403))
        #expect(ring.server.requests.count { (try? Self.signer($0)) == "NEWKEY0001/DEF123GHIJ" } == 1)
        #expect(ring.pool.credential.version == 1 && ring.pool.provingVersion == 2, "it is tried again later")
        #expect(ring.events.isEmpty)
    }

    @Test(
        "A late refusal of a key that was replaced says nothing: the notification goes out with the new one at once",
        arguments: ["InvalidProviderToken", "SomethingNew"])
    func lateRefusal(reason: String) throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"))
        let job = try Jobs.make()
        try ring.send(job, count: 5)
        ring.server.script = { $0.connection == 0 ? [] : [.respond(200)] }
        ring.submit(job, tags: 100..<103)
        try ring.turn { ring.server.requests.count == 8 }
        let late = ring.server.requests.suffix(3)
        ring.pool.offer(try versions.make(2, keyID: "NEWKEY0001"), now: .now())
        try ring.turn { ring.pool.status.proving == 1 }
        ring.submit(job, tags: 200..<201)
        try ring.turn { ring.events == [.switched(version: 2)] }
        let old = try #require(ring.server.connections.first { $0.number == 0 })
        for request in late {
            old.perform([.respond(403, #"{"reason":"\#(reason)"}"#)], on: request.streamID)
        }
        old.flush()
        ring.onAnswer = { tag, answer in if answer.isUnprocessed { ring.submit(job, tags: tag..<(tag + 1)) } }
        try ring.turn { ring.answers.count == 12 && ring.pool.openStreams == 0 }
        #expect(ring.answers.count { $0.answer.isUnprocessed } == 3)
        #expect(!ring.statuses.contains(403))
        #expect(ring.answers.suffix(3).allSatisfy { $0.answer.response?.status == 200 })
        #expect(ring.events == [.switched(version: 2)])
        #expect(ring.pool.credential.version == 2)
        try ring.turn { ring.server.connections.count == 1 }
    }

    @Test("The old key revoked while the new one waits for its proof: what it is refused goes out with the new one")
    func revokedWhileProving() throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"))
        let job = try Jobs.make()
        try ring.send(job, count: 5)
        ring.server.script = { _ in [] }
        ring.submit(job, tags: 100..<101)
        try ring.turn { ring.server.requests.count == 6 }
        ring.pool.offer(try versions.make(2, keyID: "NEWKEY0001"), now: .now())
        try ring.turn { ring.pool.status.proving == 1 }
        ring.server.script = { _ in [.respond(200)] }
        let old = try #require(ring.server.connections.first { $0.number == 0 })
        old.perform([.respond(403, #"{"reason":"InvalidProviderToken"}"#)], on: ring.server.requests[5].streamID)
        old.flush()
        try ring.turn { ring.answers.last?.answer.isUnprocessed == true }
        #expect(ring.events == [.refused(version: 1, reason: "InvalidProviderToken", concerns: .everyRoute)])
        #expect(ring.pool.isReplaced(1) && !ring.pool.isReplaced(2))
        try ring.send(job, count: 1)
        #expect(ring.statuses.last == 200)
        #expect(try Self.signer(try #require(ring.server.requests.last)) == "NEWKEY0001/DEF123GHIJ")
    }

    @Test(
        "A revoked key loses every connection, and nothing is opened before somebody asks",
        arguments: [
            ("InvalidProviderToken", .everyRoute), ("BadCertificate", .everyRoute),
            ("BadCertificateEnvironment", .oneRoute), ("BadCertificateSomething", .everyRoute),
        ] as [(String, CredentialVerdict.RefusalScope)])
    func revoked(reason: String, scope: CredentialVerdict.RefusalScope) throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"), connections: 3)
        let job = try Jobs.make()
        try ring.send(job, count: 10)
        try ring.turn { ring.pool.status.open + ring.pool.status.proving == 3 }
        ring.server.script = { _ in [.respond(403, #"{"reason":"\#(reason)"}"#)] }
        let refused = CredentialEvent.refused(version: 1, reason: reason, concerns: scope)
        try ring.turn(until: { ring.events.contains(refused) }) {
            _ = ring.pool.submit(job, index: 0, tag: 1, now: .now())
        }
        // Connections on which it was accepted are doubted first.
        let doubted = CredentialEvent.doubted(version: 1, reason: reason)
        #expect(ring.events.last == refused && ring.events.count { $0 == doubted } <= 3)
        // A connection that was under way is closed once it is there.
        try ring.turn { ring.server.connections.isEmpty && ring.pool.status.connecting == 0 }
        let accepted = ring.server.accepted
        ring.refuses(job, tag: 1)
        #expect(ring.pool.status.connecting == 0)
        ring.server.script = { _ in [.respond(200)] }
        ring.pool.retryCredential(now: .now())
        try ring.send(job, count: 3)
        #expect(ring.server.accepted > accepted)
        #expect(ring.statuses.suffix(3).allSatisfy { $0 == 200 })
    }

    @Test("A new version after the revocation is used at once")
    func replaced() throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"))
        let job = try Jobs.make()
        ring.server.script = { request in
            (try? Self.signer(request)) == "OLDKEY0001/DEF123GHIJ"
                ? [.respond(403, #"{"reason":"InvalidProviderToken"}"#)] : [.respond(200)]
        }
        try ring.send(job, count: 1)
        ring.pool.offer(try versions.make(2, keyID: "NEWKEY0001"), now: .now())
        try ring.send(job, count: 5)
        #expect(ring.statuses == [403, 200, 200, 200, 200, 200])
        #expect(ring.pool.credential.version == 2)
    }

    @Test("An expired version loses every connection, and they stay away")
    func expired() throws {
        let versions = try Versions()
        let ring = try versions.ring(try versions.make(1, keyID: "OLDKEY0001"), connections: 2)
        try ring.send(try Jobs.make(), count: 5)
        ring.pool.expire(now: .now(), seconds: 0)
        try ring.turn {
            ring.server.connections.isEmpty && ring.pool.connections.all.isEmpty && ring.pool.status.connecting == 0
        }
        ring.refuses(try Jobs.make(), tag: 1)
        #expect(ring.pool.status.connecting == 0)
    }

    @Test("No connection ever carries two teams or two keys, whatever is rotated and shared", arguments: 0..<4)
    func oneIdentityPerConnection(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let versions = try Versions()
        let loop = try EventLoop()
        let server = try ScriptedServer(loop: loop, context: try versions.certificates.serverContext())
        defer { server.close() }
        // Two routes of two teams with the same APNs, on one lane.
        let drivers = try ["TEAMA00001", "TEAMB00001"].map { team in
            try PoolDriver(
                loop: loop, port: server.port, trust: versions.certificates.trust,
                credential: try versions.make(1, keyID: "KEY0000001", teamID: team)
            ) { $0.connections = .fixed(2) }
        }
        let job = try Jobs.make()
        var version = 1
        var newest = [1, 1]
        for _ in 0..<12 {
            let index = Int.random(in: 0...1, using: &random)
            let driver = drivers[index]
            let team = index == 0 ? "TEAMA00001" : "TEAMB00001"
            if Bool.random(using: &random) {
                version += 1
                newest[index] = version
                let keyID = "KEY\(String(repeating: "0", count: 5))\(10 + version)"
                driver.pool.offer(try versions.make(version, keyID: keyID, teamID: team), now: .now())
            }
            for driver in drivers { try driver.send(job, count: 8) }
        }
        // A version is proved by jobs; some more show that it is in use.
        for (driver, newest) in zip(drivers, newest) {
            while driver.pool.credential.version < newest { try driver.send(job, count: 8) }
            try driver.send(job, count: 8)
        }
        var signers: [Int: Set<String>] = [:]
        for request in server.requests { signers[request.connection, default: []].insert(try Self.signer(request)) }
        #expect(signers.values.allSatisfy { $0.count == 1 })
        #expect(Set(signers.values.flatMap { $0 }).count > 2, "versions were changed while pushes were under way")
        for driver in drivers { #expect(driver.statuses.allSatisfy { $0 == 200 || $0 == 0 }) }
    }

    @Test("However many answers call a token expired at once, one new token is made, for new connections")
    func expiredTokens() throws {
        let tokens = try Tokens.source()
        let old = try tokens.current(wallSeconds: WallClock.milliseconds() / 1_000 - 1_200)
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 100), tokens: tokens) {
            $0.connections = .fixed(3)
        }
        let job = try Jobs.make()
        // As many as there is room for, until each connection has proved itself.
        try ring.turn {
            ring.pool.status.open == 3
        } everyTurn: {
            while ring.pool.submit(job, index: 0, tag: 1, now: .now()) {}
        }
        try ring.turn { ring.pool.openStreams == 0 }
        ring.server.script = { request in
            request.headers["authorization"].map { Array($0.utf8) } == old.header
                ? [.respond(403, #"{"reason":"ExpiredProviderToken"}"#)] : [.respond(200)]
        }
        let before = ring.server.requests.count
        let first = ring.server.accepted
        ring.submit(job, tags: 100..<400)
        try ring.turn { ring.pool.openStreams == 0 }
        try ring.send(job, count: 100)
        let later = ring.server.requests[before...]
        #expect(Set(later.compactMap { $0.headers["authorization"] }).count == 2)
        #expect(
            later.allSatisfy {
                ($0.headers["authorization"].map { Array($0.utf8) } == old.header) == ($0.connection < first)
            })
        #expect(try tokens.current(wallSeconds: WallClock.milliseconds() / 1_000).generation == 2)
        #expect(ring.statuses.suffix(100).allSatisfy { $0 == 200 })
    }

    @Test("TooManyProviderTokenUpdates gets no token made and closes no other connection")
    func tooManyUpdates() throws {
        let tokens = try Tokens.source()
        _ = try tokens.current(wallSeconds: WallClock.milliseconds() / 1_000 - 1_700)
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 10), tokens: tokens) {
            $0.connections = .fixed(2)
        }
        let job = try Jobs.make()
        try ring.turn {
            ring.pool.status.open == 2
        } everyTurn: {
            while ring.pool.submit(job, index: 0, tag: 1, now: .now()) {}
        }
        try ring.turn { ring.pool.openStreams == 0 }
        ring.server.script = {
            $0.connection == 0 ? [.respond(429, #"{"reason":"TooManyProviderTokenUpdates"}"#)] : [.respond(200)]
        }
        try ring.turn {
            ring.server.connections.allSatisfy { $0.number != 0 }
        } everyTurn: {
            while ring.pool.submit(job, index: 0, tag: 1, now: .now()) {}
        }
        try ring.turn { ring.pool.openStreams == 0 }
        try ring.send(job, count: 20)
        #expect(Set(ring.server.requests.compactMap { $0.headers["authorization"] }).count == 1)
        #expect(ring.events.isEmpty)
        #expect(ring.server.connections.contains { $0.number == 1 })
    }

    @Test("The date of an answer tells how far this clock is ahead")
    func clockSkew() throws {
        let ring = try Ring()
        ring.server.script = { _ in [.respond(200, headers: [("date", "Thu, 01 Jan 2026 00:00:00 GMT")])] }
        try ring.send(try Jobs.make(), count: 1)
        let skew = try #require(ring.pool.status.clockSkew)
        #expect(abs(skew - (WallClock.milliseconds() / 1_000 - 1_767_225_600)) < 30)
    }

    @Test("However busy, no more than two tokens of a key are in use at any moment", arguments: 0..<8)
    func twoTokens(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var schedule = ProviderTokenSchedule()
        func take(_ now: Int64) -> ProviderToken {
            if schedule.needsNew(for: .current, now: now) { schedule.issued(now: now) }
            return ProviderToken(header: [], generation: schedule.generation, issuedAt: schedule.issuedAt)
        }
        var held: [(token: ProviderToken, changesAt: Int64)] = []
        var most = 0
        for now in Int64(0)..<86_400 {
            for index in held.indices where held[index].changesAt <= now {
                let token = take(now)
                let delay = ProviderTokenChange.delay(of: token, wallSeconds: now, random: &random)
                held[index] = (token, now + delay.components.seconds)
            }
            if Int.random(in: 0..<300, using: &random) == 0 {
                let token = take(now)
                let delay = ProviderTokenChange.delay(of: token, wallSeconds: now, random: &random)
                held.append((token, now + delay.components.seconds))
            }
            if held.count > 20 { held.removeFirst(Int.random(in: 1...19, using: &random)) }
            most = max(most, Set(held.map(\.token.generation)).count)
            if held.contains(where: { now - $0.token.issuedAt > 3_300 }) { Issue.record("a token grew too old") }
        }
        #expect(most == 2)
    }
}
