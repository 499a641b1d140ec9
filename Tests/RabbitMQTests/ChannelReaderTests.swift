import TestSupport
import Testing

@testable import RabbitMQ

@Suite("What a broker says on a channel", .timeLimit(.minutes(1)))
struct ChannelReaderTests {
    /// Reads a method frame.
    private func read(_ frame: [UInt8], _ reader: inout ChannelReader) throws(AMQPError) -> ChannelReader.Event {
        var decoder = MethodDecoder()
        let payload = Array(frame[Frame.headSize..<(frame.count - 1)])
        return try payload.span.withUnsafeBytes { bytes throws(AMQPError) in
            try reader.event(
                UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)), UnsafeRawBufferPointer(rebasing: bytes[4...]),
                decoder: &decoder)
        }
    }

    /// Reads a header or body frame.
    private func message(_ frame: [UInt8], _ reader: inout ChannelReader) throws(AMQPError) -> Delivery? {
        let payload = Array(frame[Frame.headSize..<(frame.count - 1)])
        let kind: Frame.Kind = frame[0] == Frame.Kind.body.rawValue ? .body : .header
        return try payload.span.withUnsafeBytes { bytes throws(AMQPError) in
            try reader.message(Frame(kind: kind, channel: 1, payload: bytes), bodyLimit: 100)
        }
    }

    private static let tag: @Sendable (inout Wire) -> Void = { $0.short("tag") }
    private static let events: [([UInt8], ChannelReader.Event)] = [
        (Wire.method(1, 60, 11), .qosSet),
        (Wire.method(1, 85, 11), .confirmsSelected),
        (Wire.method(1, 60, 21, tag), .consumeStarted(tag: Array("tag".utf8))),
        (Wire.method(1, 60, 31, tag), .consumeCancelled(tag: Array("tag".utf8), byBroker: false)),
        (
            Wire.method(1, 60, 30) {
                $0.short("tag")
                $0.u8(1)
            }, .consumeCancelled(tag: Array("tag".utf8), byBroker: true)
        ),
        (settled(80, 7, flags: 1), .confirmed(tag: 7, multiple: true, positive: true)),
        (settled(80, 8, flags: 0), .confirmed(tag: 8, multiple: false, positive: true)),
        (settled(120, 9, flags: 1), .confirmed(tag: 9, multiple: true, positive: false)),
        (settled(120, .max, flags: 0), .confirmed(tag: .max, multiple: false, positive: false)),
        (Wire.method(1, 20, 20) { $0.u8(1) }, .flow(isActive: true)),
        (Wire.method(1, 20, 20) { $0.u8(0) }, .flow(isActive: false)),
        (Wire.deliver(1, tag: 1), .messageBegan),
    ]

    private static func settled(_ method: UInt16, _ tag: UInt64, flags: UInt8) -> [UInt8] {
        Wire.method(1, 60, method) {
            $0.u64(tag)
            $0.u8(flags)
        }
    }

    @Test("is one event for each method")
    func table() throws {
        for (frame, expected) in Self.events {
            var reader = ChannelReader()
            let event = try read(frame, &reader)
            #expect(event == expected)
        }
    }

    private static func count(_ method: UInt16) -> [UInt8] { Wire.method(1, 50, method) { $0.u32(12) } }

    private static let answers: [(AMQPRequest, [UInt8], AMQPAnswer)] = [
        (.get(queue: "q"), Wire.method(1, 60, 72) { $0.short("") }, .noMessage),
        (
            .inspectQueue(name: "q"),
            Wire.method(1, 50, 11) {
                $0.short("q")
                $0.u32(3)
                $0.u32(2)
            }, .queue(name: "q", messages: 3, consumers: 2)
        ),
        (.bindQueue(name: "q", exchange: "x", routingKey: "k"), Wire.method(1, 50, 21), .done),
        (.declareExchange(name: "x", type: "topic", arguments: FieldTable()), Wire.method(1, 40, 11), .done),
        (.purgeQueue(name: "q"), count(31), .count(12)),
        (.deleteQueue(name: "q"), count(41), .count(12)),
    ]

    @Test("answers the request that was sent, once, and no other")
    func answered() throws {
        for (index, (request, frame, answer)) in Self.answers.enumerated() {
            var reader = ChannelReader()
            reader.awaitAnswer(to: request)
            let event = try read(frame, &reader)
            #expect(event == .answered(answer), "\(request)")
            #expect(throws: AMQPError.self, "\(request)") { try read(frame, &reader) }
            // A reader that asked something else, or whose channel ended since.
            reader.awaitAnswer(to: Self.answers[(index + 1) % Self.answers.count].0)
            #expect(throws: AMQPError.self, "\(request)") { try read(frame, &reader) }
            reader.awaitAnswer(to: request)
            reader.forget()
            #expect(throws: AMQPError.self, "\(request)") { try read(frame, &reader) }
        }
    }

    @Test("brings the message that was fetched behind the answer")
    func fetched() throws {
        var reader = ChannelReader()
        reader.awaitAnswer(to: .get(queue: "q"))
        let event = try read(
            Wire.method(1, 60, 71) {
                $0.u64(5)
                $0.u8(1)
                $0.short("x")
                $0.short("key")
                $0.u32(0)
            }, &reader)
        #expect(event == .answered(.message))
        let header = try message(Wire.header(1, bodySize: 2), &reader)
        #expect(header == nil)
        let fetched = try #require(try message(Wire.body(1, [1, 2]), &reader))
        #expect(fetched.deliveryTag == 5 && fetched.redelivered && fetched.channel == 1)
        #expect(fetched.bytes[fetched.routingKey].elementsEqual("key".utf8) && fetched.body.count == 2)
        #expect(reader.kind == .delivery(tag: 5, redelivered: true))
    }

    @Test("that was half said is forgotten when the channel ends")
    func forgotten() throws {
        var reader = ChannelReader()
        _ = try read(Wire.deliver(1, tag: 1), &reader)
        #expect(throws: AMQPError.self) { try read(Wire.deliver(1, tag: 2), &reader) }
        reader.forget()
        let event = try read(Wire.deliver(1, tag: 3), &reader)
        #expect(event == .messageBegan)
    }
}
