import EventLoop
import HTTP2
import TestSupport
import Testing

@testable import APNSClient

@Suite("A server that means harm", .timeLimit(.minutes(5)))
struct HostileServerTests {
    @Test(
        "every request ends, memory stays bounded, and the route goes on", arguments: ServerAttack.all)
    func attack(_ attack: ServerAttack) throws {
        let ring = try Ring(settings: attack.settings) {
            $0.requestTimeout = .milliseconds(500)
        }
        try ring.connect()
        var isUnderAttack = true
        ring.server.script = { request in
            guard request.connection == 0, isUnderAttack else { return [.respond(200)] }
            return request.number == 0 ? [.raw(attack.bytes(UInt32(request.streamID)))] : []
        }
        let job = try Jobs.make()
        let before = try ResidentMemory.bytes()
        var tag = 0
        var peak = before
        try ring.turn {
            tag == 3 && ring.answers.count == 3
        } everyTurn: {
            while tag < 3, ring.pool.submit(job, index: 0, tag: tag, now: .now()) { tag += 1 }
            for connection in ring.server.connections { connection.flush() }
            peak = max(peak, (try? ResidentMemory.bytes()) ?? 0)
        }
        #expect(peak - before < 64 << 20)
        // Without a window no body goes out, and the request never becomes whole.
        #expect(ring.server.requests.isEmpty == (attack.settings.initialWindowSize == 0))
        if attack.isFatal { try ring.turn { ring.server.accepted > 1 } }

        // From now on the server behaves; a connection that it made useless must be given up by itself.
        isUnderAttack = false
        ring.server.settings = HTTP2Settings(maxConcurrentStreams: 1_000)
        try ring.turn {
            ring.statuses.dropFirst(3).contains(200)
        } everyTurn: {
            if ring.pool.openStreams == 0, ring.pool.submit(job, index: 0, tag: tag, now: .now()) { tag += 1 }
            for connection in ring.server.connections { connection.flush() }
        }
    }

    @Test("resets as fast as requests come cost only the requests", arguments: [HTTP2ErrorCode.refusedStream, .cancel])
    func rapidReset(code: HTTP2ErrorCode) throws {
        let ring = try Ring()
        ring.server.script = { $0.number < 2_000 && $0.connection == 0 ? [.reset(code)] : [.respond(200)] }
        let before = try ResidentMemory.bytes()
        try ring.send(try Jobs.make(), count: 2_500)
        #expect(ring.statuses.last == 200)
        #expect(try ResidentMemory.bytes() - before < 32 << 20)
    }
}
