import TestSupport
import Testing

@testable import TLS

@Suite("TLS stream", .timeLimit(.minutes(1)))
struct StreamTests {
    private let pair: TLSPair

    init() throws {
        let certificates = try ThrowawayCertificates()
        pair = try TLSPair(client: certificates.clientContext(), server: certificates.serverContext())
        try pair.shakeHands()
    }

    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }
    }

    @Test("carries bytes both ways, whole or in single bytes", arguments: [1, 3, 4096, .max], [1, 100, 20_000])
    func bothWays(portion: Int, bufferSize: Int) throws {
        let question = Self.pattern(3000)
        let answer = Self.pattern(5000)
        try pair.client.write(question.span)
        TLSPair.move(from: pair.client, to: pair.server, portion: portion)
        #expect(try TLSPair.drain(pair.server, bufferSize: bufferSize).bytes == question)
        try pair.server.write(answer.span)
        TLSPair.move(from: pair.server, to: pair.client, portion: portion)
        #expect(try TLSPair.drain(pair.client, bufferSize: bufferSize).bytes == answer)
    }

    @Test("asks for input after every single byte of a record but the last")
    func fragments() throws {
        try pair.client.write([42].span)
        var buffer = [UInt8](repeating: 0, count: 64)
        while pair.client.pendingCiphertext > 0 {
            #expect(try pair.server.read(into: &buffer) == .needsInput)
            pair.client.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
                pair.server.receive(bytes.extracting(0..<1))
                return 1
            }
        }
        #expect(try pair.server.read(into: &buffer) == .bytes(1))
        #expect(buffer[0] == 42)
        #expect(try pair.server.read(into: &buffer) == .needsInput)
    }

    @Test("takes eight megabytes in one write and lends them as one piece of many records")
    func bigWrite() throws {
        let message = Self.pattern(8 << 20)
        try pair.client.write(message.span)
        let pending = pair.client.pendingCiphertext
        #expect(pending > message.count)
        var lent = 0
        pair.client.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
            lent = bytes.count
            return 0
        }
        #expect(lent == pending)
        #expect(pair.client.pendingCiphertext == pending)
        TLSPair.move(from: pair.client, to: pair.server, portion: 100_000)
        #expect(try TLSPair.drain(pair.server).bytes == message)
    }

    @Test("several small writes leave together, each a record")
    func gathering() throws {
        for byte in 0..<10 { try pair.client.write([UInt8(byte)].span) }
        var calls = 0
        pair.client.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
            calls += 1
            pair.server.receive(bytes)
            return bytes.count
        }
        #expect(pair.client.pendingCiphertext == 0)
        #expect(calls == 1)
        #expect(try TLSPair.drain(pair.server).bytes == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test("a write of 16 KiB is one record")
    func recordSize() throws {
        try pair.client.write([UInt8](repeating: 1, count: 16 << 10).span)
        // Header of 5 bytes, the content's type, and the tag of 16 (RFC 8446, 5.2).
        #expect(pair.client.pendingCiphertext == (16 << 10) + 22)
    }

    @Test("what cannot be sent now stays, in order")
    func partialSends() throws {
        var generator = SystemRandomNumberGenerator()
        var sent: [UInt8] = []
        var received: [UInt8] = []
        for round in 0..<300 {
            let message = Self.pattern(Int.random(in: 0...3000, using: &generator))
            try pair.client.write(message.span)
            sent += message
            let share = round == 299 ? 1.0 : Double.random(in: 0...1, using: &generator)
            pair.client.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
                let count = Int(Double(bytes.count) * share)
                pair.server.receive(bytes.extracting(0..<count))
                return count
            }
            received += try TLSPair.drain(pair.server).bytes
        }
        #expect(received == sent)
    }

    @Test("an error of whoever sends leaves the bytes where they are")
    func failedSend() throws {
        struct Failure: Error {}
        try pair.client.write([1, 2, 3].span)
        let pending = pair.client.pendingCiphertext
        #expect(throws: Failure.self) {
            try pair.client.withPendingCiphertext { (_: Span<UInt8>) throws(Failure) -> Int in throw Failure() }
        }
        #expect(pair.client.pendingCiphertext == pending)
        TLSPair.move(from: pair.client, to: pair.server)
        #expect(try TLSPair.drain(pair.server).bytes == [1, 2, 3])
    }

    @Test("an empty write and an empty receipt do nothing")
    func empty() throws {
        let nothing: [UInt8] = []
        try pair.client.write(nothing.span)
        pair.client.receive(nothing.span)
        #expect(pair.client.pendingCiphertext == 0)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try pair.client.read(into: &buffer) == .needsInput)
    }

    @Test("close_notify ends one direction: the other can still be used")
    func close() throws {
        try pair.client.write([1, 2].span)
        pair.client.closeNotify()
        pair.client.closeNotify()
        let error = #expect(throws: TLSError.self) { try pair.client.write([3].span) }
        #expect(error?.code == .closed)
        TLSPair.move(from: pair.client, to: pair.server)
        for _ in 0..<2 {
            let end = try TLSPair.drain(pair.server)
            #expect(end.isClosed)
        }
        try pair.server.write([9].span)
        pair.server.closeNotify()
        TLSPair.move(from: pair.server, to: pair.client)
        let rest = try TLSPair.drain(pair.client)
        #expect(rest.bytes == [9])
        #expect(rest.isClosed)
    }

    @Test("a closing before the handshake is complete is silent")
    func earlyClose() throws {
        let certificates = try ThrowawayCertificates()
        let session = try TLSSession(server: certificates.serverContext())
        session.closeNotify()
        #expect(session.pendingCiphertext == 0)
    }

    @Test("a changed byte anywhere in a record breaks the connection for good", arguments: [0, 5, 20, 30])
    func tampering(position: Int) throws {
        try pair.client.write(Self.pattern(20).span)
        var record: [UInt8] = []
        pair.client.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
            for index in bytes.indices { record.append(bytes[index]) }
            return bytes.count
        }
        record[position] ^= 0x20
        pair.server.receive(record.span)
        #expect(throws: TLSError.self) { _ = try TLSPair.drain(pair.server) }
        #expect(throws: TLSError.self) { _ = try TLSPair.drain(pair.server) }
        #expect(throws: TLSError.self) { try pair.server.write([1].span) }
        // The client hears of it.
        TLSPair.move(from: pair.server, to: pair.client)
        let alert = #expect(throws: TLSError.self) { _ = try TLSPair.drain(pair.client) }
        #expect(alert?.code == .peerAlert)
    }
}
