import TestSupport
import Testing

@testable import RabbitMQ

@Suite("How a message is laid out in frames", .timeLimit(.minutes(1)))
struct MessageLayoutTests {
    @Test(
        "room is enough for all frames, with a body of any size",
        arguments: [0, 1, 8_183, 8_184, 8_185, 16_368, 16_369, 100_000])
    func room(bodySize: Int) throws {
        let broker = try ScriptedBroker(frameMax: 8_192)
        try broker.open(1)
        var message = AMQPSessionSendingTests.everything()
        message.setBody([UInt8](repeating: 7, count: bodySize).span)
        let layout = try MessageLayout(message, frameMax: 8_192)
        #expect(try broker.session.publish(message, channel: 1))
        let frames = broker.frames()
        #expect(frames[0].payload.count == layout.methodSize)
        #expect(frames[1].payload.count == MessageLayout.contentHeadSize + layout.propertySize)
        #expect(frames.dropFirst(2).allSatisfy { $0.payload.count <= layout.fragmentSize })
        let written = frames.reduce(0) { $0 + $1.payload.count + Frame.overhead }
        #expect((written...written + Frame.overhead).contains(layout.totalSize))
    }

    @Test("properties may fill one frame, and no more", arguments: [(0, true), (1, false)])
    func properties(excess: Int, isCarried: Bool) {
        var message = OutgoingMessage()
        message.addHeader(name: Array("x".utf8).span, value: .bytes([UInt8](repeating: 0, count: 1_000)))
        let frameMax = message.propertyBytes + MessageLayout.contentHeadSize + Frame.overhead - excess
        let layout = try? MessageLayout(message, frameMax: frameMax)
        #expect((layout != nil) == isCarried)
    }
}
