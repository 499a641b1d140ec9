import Testing

@testable import APNSSimulator

@Suite("The thin mode's HTTP/2", .timeLimit(.minutes(1)))
struct ThinHTTP2SessionTests {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
    }

    private func sent(_ session: ThinHTTP2Session) -> [UInt8] {
        var bytes: [UInt8] = []
        session.send(into: &bytes, upTo: .max)
        return bytes
    }

    @Test("It begins with SETTINGS and an open window")
    func beginning() {
        let bytes = sent(ThinHTTP2Session(counters: GatewayCounters()))
        #expect(Array(bytes.prefix(15)) == Self.frame(4, [0, 3, 0, 0, 3, 232]))
        #expect(bytes[18] == 8)
    }

    @Test("Every finished request gets its 200, however the bytes are cut", arguments: [1, 2, 7, 9, 10, 1000])
    func answers(_ step: Int) throws {
        let counters = GatewayCounters()
        let session = ThinHTTP2Session(counters: counters)
        _ = sent(session)
        var bytes = Self.preface + Self.frame(4)
        bytes += Self.frame(1, flags: 4, stream: 1, [1, 2, 3]) + Self.frame(0, flags: 1, stream: 1, [9, 9, 9, 9])
        bytes += Self.frame(1, flags: 1, stream: 3, [1]) + Self.frame(9, flags: 4, stream: 3, [2])
        bytes += Self.frame(6, stream: 0, [1, 2, 3, 4, 5, 6, 7, 8]) + Self.frame(1, flags: 5, stream: 5, [1])
        for start in stride(from: 0, to: bytes.count, by: step) {
            try session.receive(Array(bytes[start..<min(start + step, bytes.count)]).span)
        }
        let accepted = ThinHTTP2Session.accepted
        var expected = Self.frame(4, flags: 1) + Self.frame(1, flags: 5, stream: 1, accepted)
        expected += Self.frame(1, flags: 5, stream: 3, accepted) + Self.frame(6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8])
        expected += Self.frame(1, flags: 5, stream: 5, accepted)
        #expect(sent(session) == expected)
        #expect(counters.acceptedWithoutLooking == 3)
        #expect(counters.bytesWithoutLooking == 4)
        #expect(!session.wantsToSend)
    }

    @Test("An unfinished body opens its stream's window again")
    func streamWindow() throws {
        let session = ThinHTTP2Session(counters: GatewayCounters())
        _ = sent(session)
        try session.receive((Self.preface + Self.frame(0, stream: 1, [1, 2])).span)
        #expect(sent(session) == Self.frame(8, stream: 1, [0, 0, 0, 2]))
    }

    @Test("Acknowledgements are not acknowledged, and GOAWAY ends it")
    func acknowledgements() throws {
        let session = ThinHTTP2Session(counters: GatewayCounters())
        _ = sent(session)
        let ping = Self.frame(6, flags: 1, [UInt8](repeating: 0, count: 8))
        try session.receive((Self.preface + Self.frame(4, flags: 1) + ping).span)
        #expect(!session.wantsToSend)
        try session.receive(Self.frame(7, [UInt8](repeating: 0, count: 8)).span)
        #expect(session.isFinished)
    }

    /// DATA frames as large as they may be.
    static func data(_ count: Int, stream: UInt8) -> [UInt8] {
        (0..<count).flatMap { _ in frame(0, stream: stream, [UInt8](repeating: 7, count: 16_384)) }
    }

    @Test("More than the connection's window is GOAWAY with FLOW_CONTROL_ERROR, and nothing is read after it")
    func connectionOverrun() throws {
        let early = ThinHTTP2Session(counters: GatewayCounters())
        try early.receive((Self.preface + Self.data(1, stream: 1) + Self.data(3, stream: 3)).span)
        // The open window counts from the moment it was handed out.
        #expect(early.isFinished)
        #expect(Array(sent(early).suffix(17)) == Self.frame(7, [0, 0, 0, 3, 0, 0, 0, 3]))
        let session = ThinHTTP2Session(counters: GatewayCounters())
        _ = sent(session)
        try session.receive(Self.preface.span)
        let request = Self.frame(0, flags: 1, stream: 1, [UInt8](repeating: 7, count: 16_384))
        let fitting = ThinHTTP2Session.connectionWindow / 16_384
        for _ in 0..<fitting {
            try session.receive(request.span)
            _ = sent(session)
        }
        for _ in 0..<fitting { try session.receive(request.span) }
        #expect(!session.isFinished)
        try session.receive(request.span)
        #expect(session.isFinished)
    }

    @Test("More than a stream's window is RST_STREAM with FLOW_CONTROL_ERROR, and gets no answer; others do")
    func streamOverrun() throws {
        let counters = GatewayCounters()
        let session = ThinHTTP2Session(counters: counters)
        _ = sent(session)
        try session.receive((Self.preface + Self.data(3, stream: 1)).span)
        _ = sent(session)
        let rest = Self.frame(0, stream: 1, [UInt8](repeating: 7, count: 16_383))
        try session.receive((Self.data(3, stream: 1) + rest).span)
        #expect(!sent(session).contains(Self.frame(3, stream: 1, [0, 0, 0, 3])))
        try session.receive((Self.data(4, stream: 1) + Self.frame(0, flags: 1, stream: 3, [1])).span)
        let answer = sent(session)
        #expect(answer.contains(Self.frame(3, stream: 1, [0, 0, 0, 3])))
        try session.receive(Self.frame(0, flags: 1, stream: 1, [1]).span)
        #expect(sent(session).isEmpty)
        #expect(counters.acceptedWithoutLooking == 1)
        #expect(!session.isFinished)
    }

    @Test("Anything else than HTTP/2, and a frame too large, ends the connection")
    func strangers() throws {
        let other = ThinHTTP2Session(counters: GatewayCounters())
        #expect(throws: SimulatorError.self) { try other.receive(Array("GET / HTTP/1.1\r\n".utf8).span) }
        let large = ThinHTTP2Session(counters: GatewayCounters())
        #expect(throws: SimulatorError.self) {
            try large.receive((Self.preface + [0, 0x40, 1, 0, 0, 0, 0, 0, 1]).span)
        }
    }
}
