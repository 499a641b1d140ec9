import Testing
import Text

@testable import HTTP2

@Suite("Bytes of a broken peer", .timeLimit(.minutes(1)))
struct ForeignBytesTests {
    /// Bytes that break HTTP/2 after a valid beginning.
    struct BadBytes: CustomTestStringConvertible, Sendable {
        var name: String
        var bytes: [UInt8]

        var testDescription: String { name }

        /// What neither side may send.
        static let both: [BadBytes] = [
            BadBytes(name: "DATA on stream 0", bytes: Raw.frame(Raw.data, [1])),
            BadBytes(name: "SETTINGS of five bytes", bytes: Raw.frame(Raw.settings, [0, 1, 2, 3, 4])),
            BadBytes(name: "SETTINGS out of range", bytes: Raw.settings([(4, 0xffff_ffff)])),
            BadBytes(name: "PING of seven bytes", bytes: Raw.frame(Raw.ping, [1, 2, 3, 4, 5, 6, 7])),
            BadBytes(name: "window update by nothing", bytes: Raw.frame(Raw.windowUpdate, Raw.number(0))),
            BadBytes(name: "window update beyond 2^31", bytes: Raw.frame(Raw.windowUpdate, Raw.number(0x7fff_ffff))),
            BadBytes(
                name: "unknown table index",
                bytes: Raw.frame(Raw.headers, flags: Raw.endHeaders, stream: 1, [0xff, 0x7f])),
            BadBytes(
                name: "frame over the largest size",
                bytes: Raw.frame(Raw.data, stream: 1, Array(repeating: 0, count: 16385))),
            BadBytes(name: "CONTINUATION of nothing", bytes: Raw.frame(Raw.continuation, stream: 1, [0x88])),
            BadBytes(
                name: "DATA inside a header block",
                bytes: Raw.frame(Raw.headers, stream: 1, []) + Raw.frame(Raw.data, stream: 1, [1])),
            BadBytes(
                name: "RST_STREAM of an idle stream", bytes: Raw.frame(Raw.resetStream, stream: 99, Raw.number(8))),
            BadBytes(name: "noise", bytes: Array(repeating: 0xff, count: 64)),
        ]

        /// What a server may not send.
        static let fromServer: [BadBytes] =
            both + [
                BadBytes(name: "HTTP/1.1", bytes: Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)),
                BadBytes(
                    name: "PUSH_PROMISE",
                    bytes: Raw.frame(Raw.settings, flags: Raw.acknowledgement)
                        + Raw.frame(
                            Raw.pushPromise, flags: Raw.endHeaders, stream: 1, Raw.number(2) + [0x82, 0x86, 0x84])),
                BadBytes(
                    name: "HEADERS of a stream never opened",
                    bytes: Raw.frame(Raw.headers, flags: Raw.endHeaders, stream: 99, Raw.status200)),
            ]
    }

    @Test(
        "A client throws on what HTTP/2 forbids, says so to the peer, and its requests are lost",
        arguments: BadBytes.fromServer)
    func brokenServer(bad: BadBytes) throws {
        let peer = try RawServer()
        try peer.submit(2, body: [1])
        let error = #expect(throws: HTTP2Error.self) { try peer.receive(bad.bytes) }
        #expect(error?.code == .protocolViolation)
        #expect(error?.isRetriable == true)
        #expect(throws: HTTP2Error.self) { try peer.receive(Raw.settings([])) }
        #expect(!peer.client.acceptsRequests)
        #expect(try peer.drain().dropFirst(3).contains(Raw.goAway))
        peer.client.connectionLost()
        #expect(peer.events.closures.count == 2)
        #expect(peer.client.openStreams == 0)
    }

    @Test("A client throws when the first frame is not SETTINGS, whatever the pieces", arguments: [1, 100])
    func noPreface(piece: Int) throws {
        let events = ClientRecorder()
        let client = try HTTP2ClientSession(settings: HTTP2Settings(), delegate: events)
        defer { withExtendedLifetime(events) {} }
        let bytes = Raw.frame(Raw.ping, [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(throws: HTTP2Error.self) {
            for start in stride(from: 0, to: bytes.count, by: piece) {
                try client.receive(Array(bytes[start..<min(start + piece, bytes.count)]).span)
            }
        }
    }

    @Test("A server answers what HTTP/2 forbids with GOAWAY and is finished", arguments: BadBytes.both)
    func brokenClient(bad: BadBytes) throws {
        let events = ServerRecorder()
        let server = try HTTP2ServerSession(
            settings: HTTP2Settings(), bodyLimit: 10, headerListLimit: 8000, delegate: events)
        defer { withExtendedLifetime(events) {} }
        try server.receive((Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Raw.settings([])).span)
        try server.receive(bad.bytes.span)
        var output: [UInt8] = []
        try server.send(into: &output, upTo: 1 << 20)
        #expect(server.isFinished)
        let error = #expect(throws: HTTP2Error.self) { try server.receive([0].span) }
        #expect(error?.code == .protocolViolation)
    }

    @Test("A server throws on a client that does not speak HTTP/2")
    func otherProtocol() throws {
        let events = ServerRecorder()
        let server = try HTTP2ServerSession(
            settings: HTTP2Settings(), bodyLimit: 10, headerListLimit: 8000, delegate: events)
        defer { withExtendedLifetime(events) {} }
        let error = #expect(throws: HTTP2Error.self) {
            try server.receive(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8).span)
        }
        #expect(error?.code == .protocolViolation)
    }

    @Test("A violation after a GOAWAY still finishes the session")
    func violationAfterGoAway() throws {
        let peer = try RawServer()
        try peer.submit(1)
        try peer.receive(Raw.goAway(lastStreamID: 1))
        try? peer.receive(Raw.goAway(lastStreamID: 5))
        try peer.drain()
        #expect(peer.client.isFinished)
        #expect(throws: HTTP2Error.self) { try peer.receive(Raw.settings([])) }
        peer.client.connectionLost()
        #expect(peer.events.closureByTag == [0: .lost])
    }

    @Test(
        "A flood of frames that must be answered ends the connection instead of filling the memory",
        arguments: [Raw.frame(Raw.ping, Array(repeating: 0, count: 8)), Raw.settings([])])
    func flood(frame: [UInt8]) throws {
        let peer = try RawServer()
        #expect(throws: HTTP2Error.self) {
            for _ in 0..<5000 { try peer.receive(frame) }
        }
    }

    @Test("A push from a server that has not read the settings yet is declined, and the request goes on")
    func earlyPush() throws {
        let peer = try RawServer()
        try peer.submit(1)
        try peer.receive(
            Raw.frame(Raw.pushPromise, flags: Raw.endHeaders, stream: 1, Raw.number(2) + [0x82, 0x86, 0x84]))
        #expect(try peer.drain() == Raw.frame(Raw.resetStream, stream: 2, Raw.number(8)))
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.status200))
        #expect(peer.events.responses == [0: SeenResponse(headers: [":status: 200"], body: [])])
        #expect(peer.events.closureByTag == [0: .complete])
    }

    @Test("Unknown frames, settings and reset codes are tolerated")
    func unknown() throws {
        let peer = try RawServer(settings: [(0x99, 5)])
        try peer.submit(1)
        try peer.receive(Raw.frame(0xee, flags: 0xff, stream: 1, [1, 2, 3]))
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.status200))
        #expect(peer.events.closureByTag == [0: .complete])
        #expect(peer.client.remoteSettings == HTTP2Settings())
    }

    @Test("Whatever a server's bytes are changed to, every request ends exactly once", arguments: 0..<8)
    func mutatedServer(seed: Int) throws {
        let (_, original) = try Self.conversation()
        var generator = SplitMix64(seed: UInt64(seed))
        for _ in 0..<150 {
            let events = ClientRecorder()
            let client = try HTTP2ClientSession(settings: HTTP2Settings(), delegate: events)
            for tag in 0..<10 { _ = try client.submit(.push(), body: [1, 2], range: 0..<2, tag: tag) }
            var output: [UInt8] = []
            let bytes = Self.mutate(original, &generator)
            try? client.receive(bytes.span.extracting(..<60))
            try? client.send(into: &output, upTo: 1 << 20)
            try? client.receive(bytes.span.extracting(60...))
            try? client.send(into: &output, upTo: 1 << 20)
            client.connectionLost()
            #expect(events.closures.map(\.tag).sorted() == Array(0..<10))
            #expect(client.openStreams == 0)
        }
    }

    @Test("Whatever a client's bytes are changed to, the server stays within its limits", arguments: 0..<8)
    func mutatedClient(seed: Int) throws {
        let (original, _) = try Self.conversation()
        var generator = SplitMix64(seed: UInt64(seed))
        for _ in 0..<150 {
            let events = ServerRecorder()
            let server = try HTTP2ServerSession(
                settings: HTTP2Settings(maxConcurrentStreams: 10), bodyLimit: 1, headerListLimit: 300, delegate: events)
            var output: [UInt8] = []
            events.onRequest = { [unowned server] in
                server.respond(streamID: $0.streamID, status: 200, body: $0.body)
            }
            try? server.receive(Self.mutate(original, &generator).span)
            try? server.send(into: &output, upTo: 1 << 20)
            #expect(events.requests.allSatisfy { $0.body.count <= 1 && $0.headerBytes.count <= 300 })
            #expect(server.openStreams <= 10)
        }
    }

    /// The bytes of both directions of a usual conversation.
    private static func conversation() throws -> (client: [UInt8], server: [UInt8]) {
        let pair = try Pair()
        pair.echo()
        var fromClient: [UInt8] = []
        var fromServer: [UInt8] = []
        for tag in 0..<10 { try pair.submit(tag: tag, body: [1, 2]) }
        while pair.client.wantsToSend || pair.server.wantsToSend {
            var bytes: [UInt8] = []
            try pair.client.send(into: &bytes, upTo: 1 << 20)
            try pair.server.receive(bytes.span)
            fromClient += bytes
            bytes.removeAll()
            try pair.server.send(into: &bytes, upTo: 1 << 20)
            try pair.client.receive(bytes.span)
            fromServer += bytes
        }
        return (fromClient, fromServer)
    }

    private static func mutate(_ bytes: [UInt8], _ generator: inout SplitMix64) -> [UInt8] {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = Int.random(in: 0..<changed.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: changed[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: changed.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            default: changed.remove(at: place)
            }
        }
        return changed
    }
}
