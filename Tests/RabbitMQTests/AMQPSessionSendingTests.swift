import EventLoop
import TestSupport
import Testing

@testable import RabbitMQ

@Suite("What a session sends", .timeLimit(.minutes(1)))
struct AMQPSessionSendingTests {
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
        for (name, value) in SampleTable.expected { message.addHeader(name: Array(name.utf8).span, value: value) }
        message.withBody { $0 += Array("{}".utf8) }
        message.isMandatory = true
        return message
    }

    @Test("a message arrives with all that was put into it")
    func publishesEverything() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let message = Self.everything()
        #expect(try broker.session.publish(message, channel: 1))
        let frames = broker.frames()
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
        for (name, value) in SampleTable.expected { #expect(table[name] == value, "\(name)") }
    }

    @Test("copied headers keep kind and value byte for byte")
    func copiesHeaders() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = OutgoingMessage()
        var reader = FieldTableReader(0..<SampleTable.table.count)
        while let field = try reader.next(in: SampleTable.table) {
            try message.addHeader(copying: field, from: SampleTable.table)
        }
        #expect(try broker.session.publish(message, channel: 1))
        let header = broker.frames()[1].payload
        let headers = try #require(try MessagePropertyReader(header, 12..<header.count).headers)
        #expect(Array(header[headers]) == SampleTable.table)
    }

    @Test("a nested value is copied byte for byte up to the limit of the whole table")
    func copiesNested() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        // What pika writes for a list of small numbers.
        let numbers = (0..<7_200).flatMap { _ in [UInt8(ascii: "I"), 0, 0, 0, 1] }
        let table = Wire { $0.field("list", "A") { $0.long(numbers) } }.bytes
        let limit = FieldTableReader.maximumSizeOfCopies
        #expect(table.count > FieldTableReader.maximumSize && table.count < limit)
        var reader = FieldTableReader(0..<table.count, maximumSize: limit)
        let field = try #require(try reader.next(in: table))
        var message = OutgoingMessage()
        try message.addHeader(copying: field, from: table)
        #expect(try broker.session.publish(message, channel: 1))
        let header = broker.frames()[1].payload
        let headers = try #require(try MessagePropertyReader(header, 12..<header.count).headers)
        #expect(Array(header[headers]) == table)
        #expect(try FieldTable(reading: headers, in: header, maximumSize: limit)["list"] != nil)
    }

    @Test("a message that was reset carries nothing over")
    func resets() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = Self.everything()
        message.reset()
        #expect(try broker.session.publish(message, channel: 1))
        let frames = broker.frames()
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
        let error = #expect(throws: AMQPError.self) { try broker.session.publish(message, channel: 1) }
        #expect(error?.code == .invalidMessage && error?.message == Self.flaws[index].0)
        #expect(broker.frames().isEmpty)
        message.reset()
        #expect(try broker.session.publish(message, channel: 1))
    }

    @Test("texts of exactly 255 bytes are carried")
    func takesLongestTexts() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        var message = OutgoingMessage()
        message.setRoutingKey(Self.tooLong.span.extracting(0..<255))
        message.setMessageID(Self.tooLong.span.extracting(0..<255))
        #expect(try broker.session.publish(message, channel: 1))
        #expect(broker.frames().count == 2)
    }

    @Test("nothing is published while the broker does not read, but deliveries are still acknowledged")
    func honoursBlocked() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let message = Self.everything()
        try broker.send(Wire.method(0, 10, 60) { $0.short("low on disk") })
        #expect(broker.session.isBlocked)
        #expect(try !broker.session.publish(message, channel: 1))
        #expect(broker.frames().isEmpty)
        #expect(try broker.session.acknowledge(channel: 1, deliveryTag: 1, multiple: false))
        try broker.send(Wire.method(0, 10, 61))
        #expect(!broker.session.isBlocked)
        #expect(try broker.session.publish(message, channel: 1))
    }

    @Test("publishing and acknowledging to a peer that takes nothing stops at the limit, and goes on when it does")
    func holdsBack() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let session = broker.session
        var message = OutgoingMessage()
        message.setBody([UInt8](repeating: 7, count: 4000).span)
        var count = 0
        while try session.publish(message, channel: 1) { count += 1 }
        #expect(count == FrameWriter.outputLimit / 4048)
        var acknowledgements = 0
        while try session.acknowledge(channel: 1, deliveryTag: 1, multiple: true) { acknowledgements += 1 }
        #expect(acknowledgements < 4048 / 21)
        #expect(session.pendingOutput <= FrameWriter.outputLimit && !session.hasRoom(for: 21))
        // Requests and answers still go, so that a channel that the broker closes can be answered.
        try session.selectConfirms(1)
        #expect(broker.frames().count == count * 3 + acknowledgements + 1)
        #expect(try session.publish(message, channel: 1))
        #expect(try session.acknowledge(channel: 1, deliveryTag: 1, multiple: true))
    }

    @Test("a message larger than the limit goes out alone, in frames that the broker allows")
    func carriesLargeMessages() throws {
        let broker = try ScriptedBroker(frameMax: 100_000)
        try broker.open(1)
        var message = OutgoingMessage()
        message.setBody([UInt8](repeating: 7, count: FrameWriter.outputLimit + 1).span)
        #expect(try broker.session.publish(message, channel: 1))
        #expect(try !broker.session.publish(message, channel: 1))
        let bodies = broker.frames().filter { $0.type == 3 }.map(\.payload.count)
        #expect(bodies == [99_992, 99_992, FrameWriter.outputLimit + 1 - 2 * 99_992])
        #expect(try broker.session.publish(message, channel: 1))
    }

    @Test("what a peer takes in pieces arrives in order")
    func goesOutInPieces() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        broker.appetite = 13
        var message = OutgoingMessage()
        for number in 0..<50 {
            message.reset()
            message.setRoutingKey { $0.append(UInt8(number)) }
            #expect(try broker.session.publish(message, channel: 1))
        }
        var keys: [UInt8] = []
        while keys.count < 50 { keys += broker.frames().filter { $0.type == 1 }.map { $0.payload[8] } }
        #expect(keys == Array(0..<50))
    }

    @Test("a broker that makes this side answer, and takes no answer, loses the connection")
    func limitsAnswers() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let flow = Wire.method(1, 20, 20) { $0.u8(1) }.repeated(1000)
        let error = #expect(throws: AMQPError.self) { while true { try broker.send(flow) } }
        #expect(error?.code == .wouldBlock)
        #expect(broker.session.pendingOutput < FrameWriter.requestLimit + 4096)
    }

    @Test("requests are written as the protocol has them")
    func sendsRequests() throws {
        let broker = try ScriptedBroker()
        try broker.open(5)
        let session = broker.session
        try session.setPrefetch(5, count: 300)
        try session.startConsuming(5, queue: "q", consumerTag: "c")
        let arguments = FieldTable(entries: [.init(name: Array("x-p".utf8), value: .integer(-1))])
        try session.startConsuming(5, queue: "q", consumerTag: "c", arguments: arguments)
        try session.cancel(5, consumerTag: "c")
        try session.selectConfirms(5)
        #expect(try session.reject(channel: 5, deliveryTag: 3, requeue: false))
        #expect(try session.negativeAcknowledge(channel: 5, deliveryTag: 4, multiple: true, requeue: true))
        let frames = broker.frames()
        #expect(frames.allSatisfy { $0.channel == 5 && $0.type == 1 })
        #expect(
            frames.map(\.payload) == [
                [0, 60, 0, 10, 0, 0, 0, 0, 1, 44, 0],
                [0, 60, 0, 20, 0, 0, 1, 113, 1, 99, 0, 0, 0, 0, 0],
                [0, 60, 0, 20, 0, 0, 1, 113, 1, 99, 0, 0, 0, 0, 13, 3, 120, 45, 112, 108]
                    + [UInt8](repeating: 255, count: 8),
                [0, 60, 0, 30, 1, 99, 0],
                [0, 85, 0, 10, 0],
                [0, 60, 0, 90, 0, 0, 0, 0, 0, 0, 0, 3, 0],
                [0, 60, 0, 120, 0, 0, 0, 0, 0, 0, 0, 4, 3],
            ])
        #expect(throws: AMQPError.self) {
            try session.startConsuming(5, queue: String(repeating: "q", count: 256), consumerTag: "")
        }
        #expect(broker.frames().isEmpty)
    }

    @Test("answers to requests are reported")
    func reportsAnswers() throws {
        let broker = try ScriptedBroker()
        try broker.session.openChannel(2)
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
        let broker = try ScriptedBroker(heartbeat: 10)
        try broker.open(1)
        let begin = broker.now
        broker.now = begin.adding(.milliseconds(15_000))
        try broker.session.tick(now: broker.now)
        #expect(!broker.session.isSuspect && broker.session.hasRoom)
        broker.now = begin.adding(.milliseconds(15_001))
        try broker.session.tick(now: broker.now)
        #expect(broker.session.isSuspect)
        #expect(try !broker.session.publish(Self.everything(), channel: 1))
        #expect(try !broker.session.acknowledge(channel: 1, deliveryTag: 1, multiple: false))
        // A heartbeat of this side was due at 15 s and is again at 20 s, just before the end.
        #expect(broker.session.nextTick(now: broker.now) == begin.adding(.seconds(20)))
        broker.now = begin.adding(.milliseconds(20_001))
        let error = #expect(throws: AMQPError.self) { try broker.session.tick(now: broker.now) }
        #expect(error?.code == .heartbeatTimeout)
        #expect(broker.session.isClosed && broker.session.nextTick(now: broker.now) == nil)
    }

    @Test("a peer that says anything at all is not suspect any more")
    func hearsHeartbeats() throws {
        let broker = try ScriptedBroker(heartbeat: 10)
        for _ in 0..<5 {
            broker.now = broker.now.adding(.seconds(16))
            try broker.session.tick(now: broker.now)
            #expect(broker.session.isSuspect)
            try broker.send(Wire.frame(8, 0, []))
            #expect(!broker.session.isSuspect)
        }
        #expect(broker.recorder.events.isEmpty)
    }

    @Test("a heartbeat is sent when nothing else was for half an interval, and only then")
    func sendsHeartbeats() throws {
        let broker = try ScriptedBroker(heartbeat: 10)
        try broker.open(1)
        func after(_ seconds: Int) throws -> [UInt8] {
            broker.now = broker.now.adding(.seconds(seconds))
            try broker.send(Wire.frame(8, 0, []))
            try broker.session.tick(now: broker.now)
            return broker.frames().map(\.type)
        }
        #expect(try after(4) == [])
        #expect(try after(1) == [8])
        #expect(try after(4) == [])
        #expect(try broker.session.acknowledge(channel: 1, deliveryTag: 1, multiple: false))
        #expect(try after(0) == [1])
        #expect(try after(4) == [])
        #expect(try after(1) == [8])
        // What waits for a peer that takes nothing needs no company.
        broker.appetite = 0
        #expect(try broker.session.acknowledge(channel: 1, deliveryTag: 1, multiple: false))
        let waiting = broker.session.pendingOutput
        for _ in 0..<100 { _ = try after(6) }
        #expect(broker.session.pendingOutput == waiting)
    }

    @Test("without heartbeats nothing is due, however long the silence")
    func agreesToNoHeartbeats() throws {
        let broker = try ScriptedBroker(heartbeat: 0)
        broker.now = broker.now.adding(.seconds(86_400))
        try broker.session.tick(now: broker.now)
        #expect(!broker.session.isSuspect && broker.session.nextTick(now: broker.now) == nil)
        #expect(broker.frames().isEmpty)
    }

    @Test("a channel beyond what the broker allows, or one that is not closed, is an error and not a crash")
    func refusesChannels() throws {
        let broker = try ScriptedBroker(channelMax: 1)
        let error = #expect(throws: AMQPError.self) { try broker.session.openChannel(2) }
        #expect(error?.code == .unsuitable && error?.message.contains("channel_max") == true)
        try broker.session.openChannel(1)
        #expect(throws: AMQPError.self) { try broker.session.openChannel(1) }
        try broker.send(Wire.method(1, 20, 11) { $0.long([]) })
        #expect(broker.recorder.events == [.channelOpened(1)])
    }

    @Test("closing tells the broker, drops what still arrives, and ends with its answer")
    func closes() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        broker.session.close()
        #expect(!broker.session.isOpen && !broker.session.isClosed)
        try broker.send(Wire.deliver(1, tag: 1) + Wire.method(0, 10, 51))
        #expect(broker.session.isClosed)
        #expect(broker.frames().map(\.method) == [Method.connectionClose])
        #expect(broker.recorder.events.isEmpty)
    }
}
