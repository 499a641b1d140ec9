import EventLoop
import TestSupport
import Testing

@testable import RabbitMQ

@Suite("What a connection sends", .timeLimit(.minutes(1)))
struct AMQPConnectionSendingTests {
    /// A message with every property and every kind of header.
    static func everything() -> OutgoingMessage {
        var message = OutgoingMessage()
        message.setExchange("apns.results")
        message.setRoutingKey { $0 += Array("accepted.production.com.example".utf8) }
        message.setContentType("application/json")
        message.setContentEncoding(Array("identity".utf8).span)
        message.setCorrelationID(Array("correlation".utf8).span)
        message.setReplyTo(Array("reply".utf8).span)
        message.setExpiration(Array("60000".utf8).span)
        message.setMessageID(Array("message".utf8).span)
        message.setTimestamp(1_763_712_800)
        message.setType("apns.result.v1")
        message.setUserID(Array("guest".utf8).span)
        message.setAppID(Array("martlet".utf8).span)
        message.addHeader("x-constant", text: "constant")
        message.addHeader("x-number", integer: -5)
        for (name, value) in WireReaderTests.expected { message.addHeader(name: Array(name.utf8).span, value: value) }
        message.withBody { $0 += Array("{}".utf8) }
        message.isMandatory = true
        return message
    }

    @Test("a message arrives with all that was put into it")
    func publishesEverything() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let message = Self.everything()
        #expect(try broker.connection.publish(message, channel: 1))
        let frames = try broker.frames()
        try #require(frames.map(\.type) == [1, 2, 3])
        let arguments = Wire {
            $0.u32(0x003c_0028)
            $0.u16(0)
            $0.short("apns.results")
            $0.short("accepted.production.com.example")
            $0.u8(1)
        }.bytes
        #expect(frames[0].payload == arguments)
        #expect(frames[2].payload == Array("{}".utf8))
        let header = frames[1].payload
        // The size that was checked before sending is the size on the wire.
        #expect(header.count == 12 + message.propertyBytes)
        let read = try MessagePropertyReader(header, 12..<header.count)
        func text(_ range: Range<Int>?) -> String? { range.map { String(decoding: header[$0], as: UTF8.self) } }
        #expect(text(read.contentType) == "application/json" && text(read.contentEncoding) == "identity")
        #expect(text(read.correlationID) == "correlation" && text(read.replyTo) == "reply")
        #expect(text(read.expiration) == "60000" && text(read.messageID) == "message")
        #expect(text(read.type) == "apns.result.v1" && read.timestamp == 1_763_712_800 && read.deliveryMode == 2)
        #expect(text(read.userID) == "guest" && text(read.appID) == "martlet")
        let table = try FieldTable(reading: try #require(read.headers), in: header)
        #expect(table["x-constant"] == .text("constant") && table["x-number"] == .integer(-5))
        for (name, value) in WireReaderTests.expected { #expect(table[name] == value, "\(name)") }
    }

    @Test("copied headers keep kind and value byte for byte")
    func copiesHeaders() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = OutgoingMessage()
        var reader = FieldTableReader(0..<WireReaderTests.table.count)
        while let field = try reader.next(in: WireReaderTests.table) {
            try message.addHeader(copying: field, from: WireReaderTests.table)
        }
        #expect(try broker.connection.publish(message, channel: 1))
        let header = try broker.frames()[1].payload
        let headers = try #require(try MessagePropertyReader(header, 12..<header.count).headers)
        let copy = try FieldTable(reading: headers, in: header)
        #expect(copy == (try FieldTable(reading: 0..<WireReaderTests.table.count, in: WireReaderTests.table)))
        // Nested values are written anew with the widest integers; everything outside of them is the same bytes.
        let flat = Array(WireReaderTests.table.prefix(while: { $0 != UInt8(ascii: "F") }))
        #expect(Array(header[headers].prefix(flat.count)) == flat)
    }

    @Test("a message that was reset carries nothing over")
    func resets() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = Self.everything()
        message.reset()
        #expect(try broker.connection.publish(message, channel: 1))
        let frames = try broker.frames()
        #expect(frames[1].payload == [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 2])
        #expect(frames[0].payload == [0, 60, 0, 40, 0, 0, 0, 0, 0])
    }

    static let tooLong = [UInt8](repeating: UInt8(ascii: "x"), count: 256)
    static let flaws: [(String, @Sendable (inout OutgoingMessage) -> Void)] = [
        ("the exchange name is longer than 255 bytes", { $0.setExchange(tooLong.span) }),
        ("the routing key is longer than 255 bytes", { $0.setRoutingKey(tooLong.span) }),
        ("the content type is longer than 255 bytes", { $0.setContentType(tooLong.span) }),
        ("the content encoding is longer than 255 bytes", { $0.setContentEncoding(tooLong.span) }),
        ("the correlation id is longer than 255 bytes", { $0.setCorrelationID(tooLong.span) }),
        ("reply_to is longer than 255 bytes", { $0.setReplyTo(tooLong.span) }),
        ("the expiration is longer than 255 bytes", { $0.setExpiration(tooLong.span) }),
        ("the message id is longer than 255 bytes", { $0.setMessageID(tooLong.span) }),
        ("the type is longer than 255 bytes", { $0.setType(tooLong.span) }),
        ("the user id is longer than 255 bytes", { $0.setUserID(tooLong.span) }),
        ("the app id is longer than 255 bytes", { $0.setAppID(tooLong.span) }),
        ("a header name is longer than 255 bytes", { $0.addHeader(name: tooLong.span, value: .void) }),
        (
            "the properties take 140018 bytes, over the limit of 131052",
            { $0.addHeader(name: Array("x".utf8).span, value: .bytes([UInt8](repeating: 0, count: 140_004))) }
        ),
    ]

    @Test("a message that AMQP cannot carry is refused before any of it is sent", arguments: flaws.indices)
    func refusesFlaws(index: Int) throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = OutgoingMessage()
        Self.flaws[index].1(&message)
        let error = #expect(throws: AMQPError.self) { try broker.connection.publish(message, channel: 1) }
        #expect(error?.code == .invalidMessage && error?.message == Self.flaws[index].0)
        #expect(try broker.frames().isEmpty)
        message.reset()
        #expect(try broker.connection.publish(message, channel: 1))
    }

    @Test("texts of exactly 255 bytes are carried")
    func takesLongestTexts() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = OutgoingMessage()
        message.setRoutingKey(Self.tooLong.span.extracting(0..<255))
        message.setMessageID(Self.tooLong.span.extracting(0..<255))
        #expect(try broker.connection.publish(message, channel: 1))
        #expect(try broker.frames().count == 2)
    }

    @Test("nothing is published while the broker does not read")
    func honoursBlocked() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let message = Self.everything()
        try broker.send(Wire.method(0, 10, 60) { $0.short("low on disk") })
        #expect(broker.connection.isBlocked && broker.connection.refreshRoom() == 0)
        #expect(try !broker.connection.publish(message, channel: 1))
        #expect(try broker.frames().isEmpty)
        try broker.send(Wire.method(0, 10, 61))
        #expect(!broker.connection.isBlocked && broker.connection.refreshRoom() > 0)
        #expect(try broker.connection.publish(message, channel: 1))
    }

    @Test("publishing to a peer that does not read stops in time and goes on when it reads again")
    func neverBlocks() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = OutgoingMessage()
        message.setBody([UInt8](repeating: 7, count: 4000).span)
        var count = 0
        while try broker.connection.publish(message, channel: 1) { count += 1 }
        #expect(count > 10)
        var acknowledgements = 0
        while try broker.connection.acknowledge(channel: 1, deliveryTag: 1, multiple: true) { acknowledgements += 1 }
        #expect(acknowledgements < 4000)
        // Half of the send buffer is still free for the heartbeats that the library sends by itself.
        let unsent = SocketOptions.unsentBytes(of: broker.connection.fileDescriptor)
        #expect(unsent <= SocketOptions.sendBufferSize(of: broker.connection.fileDescriptor) / 2)
        var received = 0
        while received < count * 3 + acknowledgements { received += try broker.frames().count }
        #expect(broker.connection.refreshRoom() > 0)
        #expect(try broker.connection.publish(message, channel: 1))
        #expect(try broker.connection.acknowledge(channel: 1, deliveryTag: 1, multiple: true))
    }

    @Test("a burst arrives in order, complete once it ends, and again in the next one")
    func gathersBursts() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = OutgoingMessage()
        for burst in 0..<2 {
            broker.connection.beginBurst()
            for number in 0..<50 {
                message.reset()
                message.setRoutingKey { $0.append(UInt8(number)) }
                #expect(try broker.connection.publish(message, channel: 1))
            }
            broker.connection.endBurst()
            var keys: [UInt8] = []
            while keys.count < 50 { keys += try broker.frames().filter { $0.type == 1 }.map { $0.payload[8] } }
            #expect(keys == Array(0..<50), "burst \(burst)")
        }
    }

    @Test("requests are written as the protocol has them")
    func sendsRequests() throws {
        let broker = try ScriptedBroker()
        try broker.open(5)
        let connection = broker.connection
        try connection.setPrefetch(5, count: 300)
        try connection.startConsuming(5, queue: "q", consumerTag: "c")
        try connection.cancel(5, consumerTag: "c")
        try connection.selectConfirms(5)
        #expect(try connection.reject(channel: 5, deliveryTag: 3, requeue: false))
        #expect(try connection.negativeAcknowledge(channel: 5, deliveryTag: 4, multiple: true, requeue: true))
        let frames = try broker.frames()
        #expect(frames.allSatisfy { $0.channel == 5 && $0.type == 1 })
        #expect(
            frames.map(\.payload) == [
                [0, 60, 0, 10, 0, 0, 0, 0, 1, 44, 0],
                [0, 60, 0, 20, 0, 0, 1, 113, 1, 99, 0, 0, 0, 0, 0],
                [0, 60, 0, 30, 1, 99, 0],
                [0, 85, 0, 10, 0],
                [0, 60, 0, 90, 0, 0, 0, 0, 0, 0, 0, 3, 0],
                [0, 60, 0, 120, 0, 0, 0, 0, 0, 0, 0, 4, 3],
            ])
        #expect(throws: AMQPError.self) {
            try connection.startConsuming(5, queue: String(repeating: "q", count: 256), consumerTag: "")
        }
        #expect(try broker.frames().isEmpty)
    }

    @Test("answers to requests are reported")
    func reportsAnswers() throws {
        let broker = try ScriptedBroker()
        try broker.connection.openChannel(2)
        try broker.send(
            Wire.method(2, 20, 11) { $0.long([]) } + Wire.method(2, 60, 11) + Wire.method(2, 60, 21) { $0.short("c") }
                + Wire.method(2, 60, 31) { $0.short("c") } + Wire.method(2, 85, 11))
        #expect(
            broker.recorder.events == [
                .channelOpened(2), .qosSet(2), .consumeStarted(2, "c"), .consumeCancelled(2, "c", byBroker: false),
                .confirmsSelected(2),
            ])
    }

    @Test("a silent peer becomes suspect after one and a half heartbeats, and lost after two")
    func noticesSilence() throws {
        let broker = try ScriptedBroker(heartbeat: 1)
        let begin = MonotonicTime.now()
        #expect(!broker.connection.isSuspect(now: begin))
        var suspectAfter: UInt64 = 0
        let error = #expect(throws: AMQPError.self) {
            while true {
                _ = try broker.connection.read(frames: 1, delegate: broker.recorder, now: .now())
                let now = MonotonicTime.now()
                if suspectAfter == 0, broker.connection.isSuspect(now: now) {
                    suspectAfter = now.nanoseconds(since: begin)
                }
                // The client's heartbeats are what wakes this up.
                _ = try broker.socket.wait(for: .readable, timeout: .milliseconds(50))
            }
        }
        #expect(error?.code == .heartbeatTimeout)
        #expect(suspectAfter > 1_400_000_000)
        #expect(try broker.frames().contains { $0.type == 8 })
        #expect(broker.connection.refreshRoom() == 0)
    }

    @Test("a peer that only sends heartbeats is not suspect")
    func hearsHeartbeats() throws {
        let broker = try ScriptedBroker(heartbeat: 1)
        let begin = MonotonicTime.now()
        while MonotonicTime.now().nanoseconds(since: begin) < 3_000_000_000 {
            try broker.send(Wire.frame(8, 0, []))
            #expect(!broker.connection.isSuspect(now: .now()))
            _ = try broker.socket.wait(for: .readable, timeout: .milliseconds(200))
            _ = try broker.frames()
        }
        #expect(broker.recorder.events.isEmpty)
    }

    @Test("closing tells the broker and waits for its answer")
    func closes() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let answer = Wire.deliver(1, tag: 1) + Wire.method(0, 10, 51)
        #expect(try broker.socket.write(answer.span) == answer.count)
        broker.connection.close()
        #expect(try broker.frames().map(\.method) == [Method.connectionClose])
        #expect(broker.recorder.events.isEmpty)
    }
}
