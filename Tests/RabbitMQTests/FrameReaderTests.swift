import TestSupport
import Testing

@testable import RabbitMQ

@Suite("Frames out of bytes", .timeLimit(.minutes(1)))
struct FrameReaderTests {
    private struct Read: Equatable {
        var kind: Frame.Kind
        var channel: UInt16
        var payload: [UInt8]
    }

    private static let large = [UInt8](0..<250).repeated(40)
    private static let bytes =
        Wire.frame(8, 0, []) + Wire.frame(3, 7, [1, 2, 3]) + Wire.frame(2, 258, large)
        + Wire.frame(1, 1, [0, 60, 0, 80])
    private static let frames = [
        Read(kind: .heartbeat, channel: 0, payload: []), Read(kind: .body, channel: 7, payload: [1, 2, 3]),
        Read(kind: .header, channel: 258, payload: large), Read(kind: .method, channel: 1, payload: [0, 60, 0, 80]),
    ]

    /// Reads portions of bytes.
    private func read(_ portions: [[UInt8]], limit: Int = 100_000) throws(AMQPError) -> [Read] {
        var reader = FrameReader(frameMax: limit + Frame.overhead)
        var found: [Read] = []
        for portion in portions {
            try portion.span.withUnsafeBytes { bytes throws(AMQPError) in
                var rest = bytes
                while let frame = try reader.next(in: &rest) {
                    found.append(Read(kind: frame.kind, channel: frame.channel, payload: Array(frame.payload)))
                }
                #expect(rest.isEmpty)
            }
        }
        return found
    }

    @Test("are the same wherever the network cuts them in two, and byte by byte")
    func cuts() throws {
        for cut in stride(from: 0, through: Self.bytes.count, by: 7) {
            try #require(try read([Array(Self.bytes[..<cut]), Array(Self.bytes[cut...])]) == Self.frames, "\(cut)")
        }
        #expect(try read(Self.bytes.map { [$0] }) == Self.frames)
        #expect(try read([Self.bytes, Self.bytes]) == Self.frames + Self.frames)
    }

    @Test("end at the limit, before more than their head was kept")
    func limit() throws {
        #expect(try read([Wire.frame(3, 1, [UInt8](repeating: 1, count: 100))], limit: 100).count == 1)
        let error = #expect(throws: AMQPError.self) {
            try read([Array(Wire.frame(3, 1, [UInt8](repeating: 1, count: 101)).prefix(7))], limit: 100)
        }
        #expect(error?.code == .protocolViolation)
    }
}
