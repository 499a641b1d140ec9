import Testing

@testable import HTTP2

/// A server session whose client is played by hand-made bytes.
private final class RawClientPeer {
    let events = ServerRecorder()
    let server: HTTP2ServerSession

    /// Says hello, takes the server's settings and acknowledges them.
    init(_ settings: HTTP2Settings = HTTP2Settings()) throws {
        server = try HTTP2ServerSession(settings: settings, bodyLimit: 10, headerListLimit: 8000, delegate: events)
        _ = try frames()
        try server.receive((Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Raw.settings([])).span)
        try server.receive(Raw.frame(Raw.settings, flags: Raw.acknowledgement).span)
        _ = try frames()
    }

    /// Opens a request whose body is to follow.
    func open(_ stream: UInt32) throws {
        let head =
            Raw.field(":method", "POST") + Raw.field(":scheme", "https") + Raw.field(":path", "/")
            + Raw.field(":authority", "a")
        try server.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders, stream: stream, head).span)
    }

    /// Sends bytes of a body, in frames as large as they may be, all at once.
    func send(_ count: Int, on stream: UInt32, isLast: Bool = false) throws {
        var bytes: [UInt8] = []
        var left = count
        while left > 0 {
            let piece = min(left, 16_384)
            left -= piece
            let flags = isLast && left == 0 ? Raw.endStream : 0
            bytes += Raw.frame(Raw.data, flags: flags, stream: stream, Array(repeating: 7, count: piece))
        }
        try server.receive(bytes.span)
    }

    /// Takes what the server says: type, stream and payload of each frame.
    func frames() throws -> [(type: UInt8, stream: UInt8, payload: [UInt8])] {
        var bytes: [UInt8] = []
        try server.send(into: &bytes, upTo: 1 << 20)
        var frames: [(type: UInt8, stream: UInt8, payload: [UInt8])] = []
        while bytes.count >= 9 {
            let end = 9 + Int(bytes[0]) << 16 + Int(bytes[1]) << 8 + Int(bytes[2])
            frames.append((bytes[3], bytes[8], Array(bytes[9..<end])))
            bytes.removeFirst(end)
        }
        return frames
    }

    /// The codes of GOAWAY among what the server says.
    func goodbyes() throws -> [UInt8] {
        try frames().filter { $0.type == Raw.goAway }.map { $0.payload[7] }
    }
}

@Suite("A client that sends more than its windows allow", .timeLimit(.minutes(1)))
struct OverrunTests {
    private static let flowControlError: UInt8 = 3

    @Test("One byte beyond the connection's window is GOAWAY with FLOW_CONTROL_ERROR, a full window is not")
    func connection() throws {
        for (extra, expected) in [(0, []), (1, [Self.flowControlError])] {
            let peer = try RawClientPeer()
            for stream in 0..<4 as Range<UInt32> {
                try peer.open(stream * 2 + 1)
                try peer.send(stream == 3 ? 16_383 + extra : 16_384, on: stream * 2 + 1)
            }
            #expect(try peer.goodbyes() == expected)
            #expect(peer.server.isFinished == (extra == 1))
        }
    }

    @Test("Bytes in several reads count together until the server has sent its update")
    func reads() throws {
        let peer = try RawClientPeer()
        for stream in [1, 3, 5] as [UInt32] { try peer.open(stream) }
        try peer.send(32_768, on: 1)
        try peer.send(16_384, on: 3)
        // More than half the window was used, yet nothing of it was given back so far.
        try peer.send(16_384, on: 5)
        #expect(try peer.goodbyes() == [Self.flowControlError])
    }

    @Test("What was given back may be sent again, for as long as the client keeps to it", arguments: [1, 4096, 32_768])
    func returned(_ step: Int32) throws {
        let peer = try RawClientPeer()
        peer.server.windowStep = step
        var window = 65_535
        for stream in 0..<40 as Range<UInt32> {
            try peer.open(stream * 2 + 1)
            let count = min(20_000, window)
            try peer.send(count, on: stream * 2 + 1, isLast: true)
            window -= count
            let frames = try peer.frames()
            #expect(!frames.contains { $0.type == Raw.goAway })
            for frame in frames where frame.type == Raw.windowUpdate && frame.stream == 0 {
                window += frame.payload.reduce(0) { $0 << 8 | Int($1) }
            }
            #expect(window <= 65_535)
            #expect(65_535 - window < Int(step))
        }
        #expect(peer.events.requests.count == 40)
    }

    @Test("A body beyond its stream's window is RST_STREAM with FLOW_CONTROL_ERROR; the others go on")
    func stream() throws {
        let peer = try RawClientPeer(HTTP2Settings(initialWindowSize: 1000))
        for stream in [1, 3] as [UInt32] { try peer.open(stream) }
        try peer.send(600, on: 1)
        try peer.send(401, on: 1)
        let frames = try peer.frames()
        #expect(frames.contains { $0.type == Raw.resetStream && $0.stream == 1 && $0.payload == [0, 0, 0, 3] })
        #expect(!frames.contains { $0.type == Raw.goAway })
        #expect(peer.events.closed[1]?.rawValue == 3)
        try peer.send(1000, on: 3, isLast: true)
        #expect(peer.events.requests.map(\.streamID) == [3])
        #expect(!peer.server.isFinished)
    }

    @Test("A long body is given its stream's window back as it goes")
    func longBody() throws {
        let peer = try RawClientPeer(HTTP2Settings(initialWindowSize: 1000))
        try peer.open(1)
        var window = 1000
        for round in 0..<50 {
            let count = min(700, window)
            try peer.send(count, on: 1, isLast: round == 49)
            window -= count
            for frame in try peer.frames() where frame.type == Raw.windowUpdate && frame.stream == 1 {
                window += frame.payload.reduce(0) { $0 << 8 | Int($1) }
            }
            #expect(round == 49 || window > 500)
        }
        #expect(peer.events.requests.count == 1)
    }
}
