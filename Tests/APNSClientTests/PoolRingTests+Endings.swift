import EventLoop
import HTTP2
import PushModel
import TLS
import TestSupport
import Testing
import Text

@testable import APNSClient

// The rest of the suite: what a pool does when connections end.
extension PoolRingTests {
    @Test("Ten server errors in a row retire the connection; nine and a success do not")
    func serverErrors() throws {
        let ring = try Ring()
        ring.server.script = { request in
            request.connection > 0 || request.number == 9 ? [.respond(200)] : [.respond(500)]
        }
        try ring.send(try Jobs.make(), count: 10)
        #expect(ring.pool.status.open == 1)
        try ring.send(try Jobs.make(), count: 10)
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.server.accepted == 2)
        #expect(ring.statuses.last == 200)
    }

    @Test("A server of another authority is refused before any request, and the pool goes on trying, slowly")
    func wrongAuthority() throws {
        let ring = try Ring(trust: try ThrowawayCertificates().trust)
        try ring.turn { ring.connectErrors.count == 2 }
        #expect(ring.connectErrors.allSatisfy { $0.code == .untrusted })
        #expect(ring.server.requests.isEmpty)
        #expect(ring.pool.isConnected == false)
        #expect(ring.pool.status.failures == 2)
        try ring.refuses(Jobs.make(), tag: 0)
    }

    @Test("A server that allows no stream at all counts as out of reach", arguments: [0, 1] as [UInt32])
    func noStreams(limit: UInt32) throws {
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: limit))
        try ring.turn { ring.pool.status.proving + ring.pool.status.open == 1 }
        #expect((ring.pool.isConnected == true) == (limit > 0))
        #expect(ring.pool.capacity == Int(limit))
    }

    @Test("Several connections share the load")
    func several() throws {
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 10)) { $0.connections = .fixed(3) }
        try ring.turn { ring.pool.streamLimit == 30 }
        try ring.send(try Jobs.make(), count: 300)
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        for number in 0..<3 { #expect(ring.server.requests.contains { $0.connection == number }) }
    }

    @Test("An automatic pool grows while it is saturated")
    func growth() throws {
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 4)) {
            $0.connections = .automatic(maximum: 3)
            $0.growthDelay = .milliseconds(5)
        }
        ring.server.script = { _ in [] }
        let job = try Jobs.make()
        var tag = 0
        try ring.turn {
            ring.pool.openStreams == 12
        } everyTurn: {
            while ring.pool.submit(job, index: 0, tag: tag, now: .now()) { tag += 1 }
        }
        #expect(ring.server.accepted == 3)
    }

    @Test("Fresh credentials: new connections first, then the old ones finish")
    func refresh() throws {
        let ring = try Ring()
        try ring.connect()
        ring.server.script = { $0.connection == 0 ? [] : [.respond(200)] }
        try ring.submit(Jobs.make(), tags: 0...0)
        try ring.turn { ring.server.requests.count == 1 }
        ring.pool.refreshCredential(now: .now())
        #expect(ring.pool.capacity > 0)
        try ring.turn { ring.pool.status.draining == 1 && ring.pool.status.open == 1 }
        ring.server.connections.first?.perform([.respond(200)], on: 1)
        ring.server.connections.first?.flush()
        try ring.turn { ring.answers.count == 1 && ring.pool.status.draining == 0 }
        #expect(ring.statuses == [200])
    }

    @Test("A drained pool answers what is open, closes, and opens nothing")
    func drain() throws {
        let ring = try Ring()
        try ring.connect()
        let job = try Jobs.make()
        ring.submit(job, tags: 0..<5)
        ring.pool.drain(now: .now())
        ring.refuses(job, tag: 5)
        try ring.turn { ring.answers.count == 5 && ring.server.connections.isEmpty }
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        #expect(ring.pool.status.wanted == 1 && ring.pool.status.connecting == 0)
    }

    @Test("Closing answers everything that is open, once")
    func close() throws {
        let ring = try Ring()
        ring.server.script = { _ in [] }
        try ring.connect()
        let job = try Jobs.make()
        ring.submit(job, tags: 0..<5)
        try ring.turn { ring.server.requests.count == 5 }
        ring.submit(job, tags: 5..<8)
        ring.pool.close()
        #expect(Set(ring.answers.map(\.tag)) == Set(0..<8))
        #expect(ring.answers.count == 8)
    }

    @Test("A lane may submit inside an answer")
    func submitInside() throws {
        let ring = try Ring()
        let job = try Jobs.make()
        var next = 1
        ring.onAnswer = { _, _ in
            guard next < 50 else { return }
            ring.submit(job, tags: next...next)
            next += 1
        }
        try ring.connect()
        ring.submit(job, tags: 0...0)
        try ring.turn { ring.answers.count == 50 }
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        ring.onAnswer = nil
    }

    @Test("A connection changes its token when that is due, and keeps its streams")
    func tokenChange() throws {
        let tokens = try Tokens.source()
        let ring = try Ring(tokens: tokens)
        try ring.send(try Jobs.make(), count: 1)
        let connection = try #require(ring.pool.connections.all.first)
        let old = ProviderToken(header: Array("bearer old".utf8), generation: 0, issuedAt: 0)
        connection.token.use(old, until: .distantFuture)
        try ring.send(try Jobs.make(), count: 1)
        connection.token.use(old, until: 1)
        try ring.send(try Jobs.make(), count: 1)
        #expect(connection.token.held?.generation == 1)
        let sent = ring.server.requests.map { $0.headers["authorization"] }
        #expect(sent[1] == "bearer old")
        #expect(sent[2] == sent[0])
        #expect(ring.server.accepted == 1)
    }

    @Test("An expired token is replaced for the connection that follows, the source permitting")
    func expiredToken() throws {
        let tokens = try Tokens.source()
        // Made two minutes ago, so that a new one may be made on demand.
        let old = try tokens.current(wallSeconds: WallClock.milliseconds() / 1_000 - 120)
        let ring = try Ring(tokens: tokens)
        ring.server.script = { request in
            request.headers["authorization"].map { Array($0.utf8) } == old.header
                ? [.respond(403, #"{"reason":"ExpiredProviderToken"}"#)] : [.respond(200)]
        }
        try ring.send(try Jobs.make(), count: 1)
        try ring.send(try Jobs.make(), count: 3)
        #expect(ring.statuses == [403, 200, 200, 200])
        #expect(ring.server.accepted == 2)
    }

    @Test("A server that accepts and hangs up is not asked at full speed")
    func hangUp() throws {
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 10))
        try ring.turn {
            ring.server.connections.first?.close()
            return ring.pool.status.failures + ring.connectErrors.count >= 3
        }
        let status = ring.pool.status
        #expect(status.failures >= 1)
        #expect(ring.server.accepted <= 10)
    }

    @Test("Whatever a server does, every request gets exactly one answer", arguments: 0..<12)
    func property(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 20)) {
            $0.connections = .fixed(2)
            $0.requestTimeout = .milliseconds(60)
        }
        ring.server.script = { request in
            switch Int.random(in: 0..<120, using: &random) {
            case 0: return [.reset(.refusedStream)]
            case 1: return [.reset(.internalError)]
            case 2: return [.goAway(last: max(1, request.streamID - 4), debug: #"{"reason":"Shutdown"}"#)]
            case 3: return [.drop]
            case 4: return []
            case 5: return [.announce(maxConcurrentStreams: UInt32.random(in: 1...40, using: &random)), .respond(200)]
            case 6: return [.respond(503, #"{"reason":"Shutdown"}"#)]
            case 7: return [.respond(410, #"{"reason":"Unregistered","timestamp":1}"#)]
            case 8: return [.respond(200), .reset(.noError)]
            default: return [.respond(200)]
            }
        }
        let jobs = [try Jobs.make(), try Jobs.make(payloadLength: 4_000)]
        var open: Set<Int> = []
        ring.onAnswer = { tag, _ in
            // A tag may be used again at once.
            if open.remove(tag) == nil { Issue.record("request \(tag) was answered without being open") }
        }
        var submitted = 0
        try ring.turn {
            submitted >= 400 && open.isEmpty
        } everyTurn: {
            for tag in 0..<64 where submitted < 400 && !open.contains(tag) {
                guard ring.pool.submit(jobs[tag % 2], index: 0, tag: tag, now: .now()) else { break }
                open.insert(tag)
                submitted += 1
            }
        }
        #expect(ring.answers.count == submitted)
        #expect(ring.pool.openStreams == 0)
        ring.onAnswer = nil
    }

    @Test("What answered requests did not send of their payloads is forgiven, however small the window of a stream is")
    func unsentPayloads() throws {
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 1_000, initialWindowSize: 0))
        try ring.connect()
        let job = try Jobs.make(payloadLength: 4_096)
        for round in 0..<4 {
            ring.submit(job, tags: 0..<10)
            ring.pool.flush(now: .now())
            // The server has read enough of each request when it has seen its headers (RFC 9113, section 8.1).
            for number in 10 * round..<10 * (round + 1) {
                let stream = UInt32(2 * number + 1)
                let answer = Frame.headers(stream, Frame.status200, ends: true)
                ring.server.connections.first?.perform(
                    [.raw(answer + Frame.make(3, stream: stream, Frame.number(0)))], on: 0)
            }
            try ring.turn { ring.answers.count == 10 * (round + 1) }
        }
        #expect(ring.statuses.allSatisfy { $0 == 200 } && ring.server.accepted == 1)
        #expect(ring.pool.capacity > 10)
    }

    @Test("A pool that is let go takes its connections along, closed or not", arguments: [true, false])
    func letGo(closes: Bool) throws {
        let loop = try EventLoop()
        let certificates = try ThrowawayCertificates()
        let server = try ScriptedServer(loop: loop, context: try certificates.serverContext())
        defer { server.close() }
        server.script = { _ in [] }
        weak var pool: APNSPool?
        weak var connection: APNSConnection?
        try {
            let driver = try PoolDriver(
                loop: loop, port: server.port, trust: certificates.trust, tokens: nil, closesAtEnd: closes)
            try driver.connect()
            driver.submit(try Jobs.make(), tags: 0...0)
            try driver.turn { server.requests.count == 1 }
            pool = driver.pool
            connection = driver.pool.connections.all.first
            #expect(connection != nil)
        }()
        #expect(pool == nil)
        #expect(connection == nil)
        let isClosed = try turn(loop) { server.connections.isEmpty }
        #expect(isClosed)
    }
}
