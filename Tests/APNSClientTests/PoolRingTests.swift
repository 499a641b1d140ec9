import EventLoop
import HTTP2
import PushModel
import TLS
import TestSupport
import Testing
import Text

@testable import APNSClient

@Suite("A pool against a scripted server", .timeLimit(.minutes(1)), .serialized)
struct PoolRingTests {
    @Test("A thousand pushes are answered once each, over one connection")
    func thousand() throws {
        let ring = try Ring()
        try ring.send(try Jobs.make(), count: 1_000)
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        #expect(Set(ring.answers.map(\.tag)).count == 1_000)
        #expect(ring.server.accepted == 1)
        #expect(ring.pool.openStreams == 0)
    }

    @Test("A request carries the documented headers, pseudo-headers first, and its payload byte for byte")
    func headers() throws {
        let ring = try Ring(tokens: try Tokens.source())
        let job = try Jobs.make(
            #""push_type":"background","priority":5,"expiration":1795264800,"collapse_id":"order-1","id":"job-1""#)
        try ring.send(job, count: 2)
        for request in ring.server.requests {
            #expect(request.headers[":method"] == "POST")
            #expect(request.headers[":scheme"] == "https")
            #expect(request.headers[":authority"] == "127.0.0.1:\(ring.server.port)")
            #expect(request.headers[":path"] == "/3/device/\(Jobs.token)")
            #expect(request.headers["authorization"]?.hasPrefix("bearer ey") == true)
            #expect(request.headers["apns-topic"] == "com.example.app")
            #expect(request.headers["apns-push-type"] == "background")
            #expect(request.headers["apns-priority"] == "5")
            #expect(request.headers["apns-expiration"] == "1795264800")
            #expect(request.headers["apns-collapse-id"] == "order-1")
            var id: [UInt8] = []
            job.apnsID(0).append(to: &id)
            #expect(request.headers["apns-id"] == String(decoding: id, as: UTF8.self))
            #expect(request.body == Array(job.bytes[job.payload]))
            #expect(request.headerNames.prefix(4).allSatisfy { $0.hasPrefix(":") })
            #expect(request.headerNames.count == 11)
        }
    }

    @Test(
        "Every verdict arrives with its status, reason and details",
        arguments: [
            (400, #"{"reason":"BadDeviceToken"}"#, "BadDeviceToken", nil),
            (410, #"{"reason":"Unregistered","timestamp":1454948015990}"#, "Unregistered", 1_454_948_015_990),
            (429, #"{"reason":"TooManyRequests"}"#, "TooManyRequests", nil),
            (400, #"{"reason":"ReasonOfTomorrow","more":[1,{"a":2}]}"#, "ReasonOfTomorrow", nil),
            (400, #"{"reason":"Bad\u0054opic"}"#, "BadTopic", nil),
            (500, "no JSON at all", nil, nil),
            (413, "", nil, nil),
            (410, #"{"timestamp":17,"reason":"Unregistered""#, "Unregistered", 17),
        ] as [(Int, String, String?, Int64?)])
    func verdicts(status: Int, body: String, reason: String?, timestamp: Int64?) throws {
        let ring = try Ring()
        ring.server.script = { _ in
            [.respond(status, body, headers: [("apns-unique-id", "unique"), ("retry-after", "30"), ("apns-id", "X")])]
        }
        try ring.send(try Jobs.make(), count: 1)
        let response = try #require(ring.answers.first?.answer.response)
        #expect(response.status == status)
        #expect(response.reason?.rawValue == reason)
        #expect(response.timestamp == timestamp)
        #expect(response.retryAfter == 30)
        #expect(response.apnsUniqueID == Array("unique".utf8))
        #expect(response.microseconds > 0)
    }

    @Test("Only APNs' own answer may name the delay before the next attempt")
    func foreignDelay() throws {
        let headers = [("retry-after", "30")]
        for (answer, expected) in [
            (.gateway(503, "<html>", headers: headers), nil), (.respond(503, "", headers: headers), 30),
        ] as [(Reaction, Int?)] {
            let ring = try Ring()
            ring.server.script = { _ in [answer] }
            try ring.send(try Jobs.make(), count: 1)
            let response = try #require(ring.answers.first?.answer.response)
            #expect(response.status == 503 && response.retryAfter == expected)
        }
    }

    @Test("An endless error body is cut, and its status still counts")
    func longBody() throws {
        let ring = try Ring()
        ring.server.script = { _ in [.respond(400, #"{"x":""# + String(repeating: "y", count: 9_000))] }
        try ring.send(try Jobs.make(), count: 3)
        #expect(ring.statuses == [400, 400, 400])
    }

    @Test(
        "A refusal that breaks off before its reason says only that the push was not taken; other answers count",
        arguments: [(200, 200), (400, nil), (403, nil), (410, nil), (429, 429), (503, 503)], [true, false])
    func halfAnswer(_ answer: (status: Int, counts: Int?), _ isReset: Bool) throws {
        let ring = try Ring()
        // HEADERS that end the headers and not the stream: `:status`, not indexed (RFC 7541, appendix A, 8).
        let block = [8, 3] + Array(String(answer.status).utf8) + Frame.apnsID
        ring.server.script = { request in
            let headers = [0, 0, UInt8(block.count), 1, 4, 0, 0, 0, UInt8(request.streamID)] + block
            return [.raw(headers), isReset ? .reset(.cancel) : .drop]
        }
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.statuses == [answer.counts ?? 0])
        #expect(ring.answers.first?.answer.isUnprocessed == (answer.counts == nil))
    }

    @Test("Answers that had arrived count, also where it is writing that finds the server gone")
    func leftovers() throws {
        let ring = try Ring()
        try ring.connect()
        ring.server.script = { _ in [] }
        let job = try Jobs.make()
        ring.submit(job, tags: 0..<1)
        try ring.turn { ring.server.requests.count == 1 }
        // Outside of a turn, so that nothing is read of it.
        let stream = try #require(ring.server.requests.first?.streamID)
        ring.server.connections.first?.perform([.respond(200), .raw([]), .drop], on: stream)
        // The first write after the end is refused by the server's system, the next by our own.
        for tag in 1...3 where ring.answers.isEmpty {
            ring.submit(job, tags: tag...tag)
            ring.pool.flush(now: .now(), hasBacklog: false)
        }
        #expect(ring.answers.first?.tag == 0 && ring.statuses.first == 200)
        try ring.turn { ring.answers.count > 1 }
        #expect(!ring.statuses.dropFirst().contains(200), "\(ring.statuses)")
    }

    @Test("GOAWAY at a stream: those above are unprocessed, those below answered, and another connection follows")
    func goAway() throws {
        let ring = try Ring()
        try ring.connect()
        // The eleventh request announces the end with the sixth as the last that is answered.
        ring.server.script = { request in
            guard request.connection == 0 else { return [.respond(200)] }
            if request.number < 6 { return request.number == 5 ? [] : [.respond(200)] }
            return request.number == 10 ? [.goAway(last: 11), .reset(.cancel)] : []
        }
        let job = try Jobs.make()
        ring.submit(job, tags: 0..<20)
        try ring.turn { ring.answers.count == 19 && ring.pool.capacity > 0 }
        let unprocessed = Set(ring.answers.filter { $0.answer.isUnprocessed }.map(\.tag))
        #expect(unprocessed == Set(6..<20))
        // The stream at the border is still open on the old connection; new requests use the new one.
        #expect(ring.pool.openStreams == 1)
        #expect(ring.pool.isConnected == true)
        ring.submit(job, tags: 20...20)
        try ring.turn { ring.answers.count == 20 }
        #expect(ring.server.requests.last?.connection == 1)
        #expect(ring.pool.status.draining == 1)
        ring.server.connections.first?.perform([.respond(200)], on: 11)
        ring.server.connections.first?.flush()
        try ring.turn { ring.answers.count == 21 && ring.pool.status.draining == 0 }
        #expect(ring.answers.last?.tag == 5)
        #expect(ring.statuses.last == 200)
    }

    @Test("A refused stream is unprocessed, and the connection goes on")
    func refused() throws {
        let ring = try Ring()
        ring.server.script = { $0.number % 3 == 1 ? [.reset(.refusedStream)] : [.respond(200)] }
        try ring.send(try Jobs.make(), count: 30)
        #expect(ring.answers.filter { $0.answer.isUnprocessed }.count == 10)
        #expect(ring.statuses.filter { $0 == 200 }.count == 20)
        #expect(ring.server.accepted == 1)
    }

    @Test("A stream reset for another reason is unanswered, with that reason")
    func reset() throws {
        let ring = try Ring()
        ring.server.script = { _ in [.reset(.internalError)] }
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.answers.first?.answer.cause == .reset(code: HTTP2ErrorCode.internalError.rawValue))
    }

    @Test("A silent stream is unanswered at its deadline; others on the connection are not touched")
    func silent() throws {
        let ring = try Ring { $0.requestTimeout = .seconds(1) }
        ring.server.script = { $0.number == 1 ? [] : [.respond(200)] }
        try ring.send(try Jobs.make(), count: 3)
        #expect(ring.answers.last?.answer.cause == .deadline)
        #expect(ring.answers.last?.tag == 1)
        #expect(ring.pool.status.timeouts == 1)
        #expect(ring.server.accepted == 1)
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.statuses.last == 200)
    }

    @Test("Three silent streams retire the connection")
    func strikes() throws {
        let ring = try Ring { $0.requestTimeout = .seconds(1) }
        ring.server.script = { $0.connection == 0 ? [] : [.respond(200)] }
        try ring.send(try Jobs.make(), count: 3)
        #expect(ring.answers.allSatisfy { $0.answer.cause == .deadline })
        try ring.send(try Jobs.make(), count: 5)
        #expect(ring.statuses.suffix(5) == [200, 200, 200, 200, 200])
        #expect(ring.server.accepted == 2)
    }

    @Test(
        "A connection on which no request is allowed is given up for another one", arguments: [true, false])
    func useless(isSilent: Bool) throws {
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 0)) {
            $0.patience = .milliseconds(100)
        }
        ring.server.isMute = isSilent
        try ring.turn { ring.pool.status.lost > 0 }
        #expect(ring.pool.status.lastError?.code == .timedOut && ring.pool.isConnected == false)
        ring.server.isMute = false
        ring.server.settings = HTTP2Settings(maxConcurrentStreams: 10)
        try ring.send(try Jobs.make(), count: 3)
        #expect(ring.statuses == [200, 200, 200])
    }

    @Test("A connection that takes requests is kept, however long it has nothing to do")
    func patience() throws {
        let ring = try Ring { $0.patience = .milliseconds(500) }
        try ring.connect()
        let end = MonotonicTime.now().adding(.milliseconds(700))
        try ring.turn { .now() > end }
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.server.accepted == 1)
    }

    @Test("A frozen server: deadlines come first, then the unanswered PING ends the connection")
    func frozen() throws {
        let ring = try Ring {
            $0.requestTimeout = .seconds(1)
            $0.pingTimeout = .seconds(1)
        }
        // Once the first PING is answered, only the silence can end the connection.
        try ring.turn { ring.pool.status.roundTrip > .zero }
        ring.server.isFrozen = true
        try ring.submit(Jobs.make(), tags: 0...0)
        try ring.turn { ring.pool.status.lost == 1 }
        #expect(ring.answers.count == 1)
        #expect(ring.answers.first?.answer.cause == .deadline)
        #expect(ring.pool.status.lastError?.code == .timedOut)
    }

    @Test("An idle connection is asked with a PING and stays when it answers")
    func idle() throws {
        let ring = try Ring {
            $0.pingInterval = .milliseconds(20)
            $0.pingTimeout = .milliseconds(5_000)
        }
        try ring.connect()
        let end = MonotonicTime.now().adding(.milliseconds(150))
        try ring.turn { MonotonicTime.now() >= end }
        #expect(ring.pool.status.lost == 0)
        #expect(ring.pool.isConnected == true)
    }

    @Test("A connection that drops in mid-flight: sent requests are unanswered, and the pool recovers")
    func dropped() throws {
        let ring = try Ring()
        ring.server.script = { request in
            if request.connection > 0 { return [.respond(200)] }
            return request.number == 4 ? [.drop] : request.number < 2 ? [.respond(200)] : []
        }
        try ring.connect()
        let job = try Jobs.make()
        ring.submit(job, tags: 0..<10)
        try ring.turn { ring.answers.count == 10 }
        #expect(Set(ring.answers.map(\.tag)) == Set(0..<10))
        #expect(ring.answers.filter { $0.answer.cause == .connectionLost }.count >= 8)
        try ring.send(job, count: 5)
        #expect(ring.statuses.suffix(5).allSatisfy { $0 == 200 })
        #expect(ring.server.accepted == 2)
    }

    @Test("Payloads of 4 KiB wait for the connection's window, and all arrive")
    func window() throws {
        let ring = try Ring { $0.requestTimeout = .seconds(10) }
        let job = try Jobs.make(payloadLength: 4_096)
        try ring.connect()
        var taken = 0
        while ring.pool.submit(job, index: 0, tag: taken, now: .now()) { taken += 1 }
        // 65,535 bytes of window hold 15 of them, however many streams are free.
        #expect(taken == 15)
        try ring.turn { ring.answers.count == taken }
        try ring.send(job, count: 300)
        #expect(ring.statuses.allSatisfy { $0 == 200 })
        #expect(ring.server.requests.allSatisfy { $0.body.count == 4_096 })
        #expect(ring.server.accepted == 1)
    }

    @Test("The stream limit is obeyed as it is now: 1, then 1,000, then 1")
    func liveLimit() throws {
        let ring = try Ring(settings: HTTP2Settings(maxConcurrentStreams: 1))
        let job = try Jobs.make()
        ring.server.script = { _ in [] }
        try ring.turn { ring.pool.streamLimit == 1 && ring.pool.isConnected == true }
        ring.submit(job, tags: 0...0)
        ring.refuses(job, tag: 1)
        try ring.turn { ring.server.requests.count == 1 }
        let changes = ring.capacityChanges
        try ring.server.announce(maxConcurrentStreams: 1_000)
        try ring.turn { ring.pool.streamLimit == 1_000 }
        #expect(ring.capacityChanges > changes)
        ring.submit(job, tags: 1..<100)
        try ring.turn { ring.server.requests.count == 100 }
        try ring.server.announce(maxConcurrentStreams: 1)
        try ring.turn { ring.pool.streamLimit == 1 }
        #expect(ring.pool.openStreams == 100)
        #expect(ring.pool.capacity == 0)
        // All but one are answered: still no room. With the last, there is.
        for id in stride(from: Int32(1), to: 199, by: 2) {
            ring.server.connections.first?.perform([.respond(200)], on: id)
        }
        ring.server.connections.first?.flush()
        try ring.turn { ring.answers.count == 99 }
        #expect(ring.pool.capacity == 0)
        ring.server.connections.first?.perform([.respond(200)], on: 199)
        ring.server.connections.first?.flush()
        try ring.turn { ring.answers.count == 100 }
        #expect(ring.pool.capacity == 1)
    }

    @Test("With tokens, one stream until an answer that is not 403")
    func proving() throws {
        let ring = try Ring(tokens: try Tokens.source())
        let job = try Jobs.make()
        var number = 0
        ring.server.script = { _ in
            number += 1
            return number <= 2 ? [.respond(403, #"{"reason":"SomethingNew"}"#)] : [.respond(200)]
        }
        try ring.send(job, count: 10)
        #expect(ring.server.requests.prefix(3).allSatisfy { $0.openStreams == 1 })
        #expect(ring.statuses.filter { $0 == 403 }.count == 2)
        #expect(ring.pool.status.open == 1)
    }

    @Test(
        "An answer that makes the connection useless is reported, and the next request uses another connection",
        arguments: [
            (503, "Shutdown"), (400, "IdleTimeout"), (403, "ExpiredProviderToken"), (403, "UnrelatedKeyIdInToken"),
            (429, "TooManyProviderTokenUpdates"),
        ])
    func useless(status: Int, reason: String) throws {
        let ring = try Ring(tokens: try Tokens.source())
        ring.server.script = {
            $0.connection == 0 ? [.respond(status, #"{"reason":"\#(reason)"}"#)] : [.respond(200)]
        }
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.answers.first?.answer.response?.reason?.rawValue == reason)
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.statuses.last == 200)
        #expect(ring.server.accepted == 2)
    }
}
