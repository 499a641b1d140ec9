import TestSupport
import Testing

@testable import RabbitMQ

@Suite("What a session makes of a broker's frames", .timeLimit(.minutes(1)))
struct AMQPSessionReadingTests {
    /// Two channels with deliveries in pieces, a return with its confirm, confirms of all sorts, and an alarm.
    static let script: [UInt8] =
        Wire.deliver(1, tag: 1, key: "first")
        + Wire.deliver(2, tag: 1, redelivered: true, key: "other")
        + Wire.header(1, bodySize: 6, properties: [0x10, 0, 2])
        + Wire.body(1, Array("ab".utf8))
        + Wire.header(2, bodySize: 0)
        + Wire.body(1, Array("cdef".utf8))
        + Wire.method(3, 60, 50) {
            $0.u16(312)
            $0.short("NO_ROUTE")
            $0.short("results")
            $0.short("nowhere")
        }
        + Wire.method(0, 10, 60) { $0.short("low on memory") }
        + Wire.header(3, bodySize: 3, properties: [0, 0x80, 2] + Array("id".utf8))
        + Wire.body(3, [1, 2, 3])
        + Wire.method(3, 60, 80) {
            $0.u64(1)
            $0.u8(0)
        }
        + Wire.method(3, 60, 80) {
            $0.u64(7)
            $0.u8(1)
        }
        + Wire.method(3, 60, 120) {
            $0.u64(8)
            $0.u8(0)
        }
        + Wire.frame(8, 0, [])
        + Wire.method(0, 10, 61)
        + Wire.method(2, 60, 30) {
            $0.short("consumer")
            $0.u8(1)
        }
        + Wire.method(1, 20, 40) {
            $0.u16(404)
            $0.short("NOT_FOUND")
            $0.u16(60)
            $0.u16(20)
        }

    static let events: [SessionEvent] = [
        .delivered(
            2, tag: 1, redelivered: true, exchange: "x", key: "other", properties: [0, 0], body: "", size: 0,
            isTruncated: false),
        .delivered(
            1, tag: 1, redelivered: false, exchange: "x", key: "first", properties: [0x10, 0, 2], body: "abcdef",
            size: 6, isTruncated: false),
        .blocked("low on memory"),
        .returned(3, code: 312, id: "id", exchange: "results", key: "nowhere"),
        .confirmed(3, tag: 1, multiple: false, positive: true),
        .confirmed(3, tag: 7, multiple: true, positive: true),
        .confirmed(3, tag: 8, multiple: false, positive: false),
        .unblocked,
        .consumeCancelled(2, "consumer", byBroker: true),
        .channelClosed(1, code: 404, text: "NOT_FOUND"),
    ]

    @Test("the login announces what this client can do, and its name")
    func announcesCapabilities() throws {
        let text = String(decoding: try ScriptedBroker().loginBytes, as: UTF8.self)
        for name in [
            "consumer_cancel_notify", "connection.blocked", "basic.nack", "publisher_confirms", "test client", "9.9",
        ] { #expect(text.contains(name), "\(name)") }
    }

    @Test("frames are understood wherever the network cuts them in two")
    func readsFragments() throws {
        for cut in 0...Self.script.count {
            let broker = try ScriptedBroker()
            try broker.open(1, 2, 3)
            try broker.send(Array(Self.script[..<cut]))
            try broker.send(Array(Self.script[cut...]))
            try #require(broker.recorder.events == Self.events, "cut at \(cut)")
        }
    }

    @Test("frames are understood when they arrive byte by byte")
    func readsSingleBytes() throws {
        let broker = try ScriptedBroker()
        try broker.open(1, 2, 3)
        for byte in Self.script { try broker.send([byte]) }
        #expect(broker.recorder.events == Self.events)
    }

    @Test("a channel that the broker closes is answered and can be opened again")
    func answersChannelClose() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let close = Wire.method(1, 20, 40) {
            $0.u16(406)
            $0.short("PRECONDITION_FAILED")
            $0.u16(60)
            $0.u16(80)
        }
        // What was half received is forgotten with the channel.
        try broker.send(Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 9) + close)
        #expect(broker.recorder.events == [.channelClosed(1, code: 406, text: "PRECONDITION_FAILED")])
        #expect(broker.frames().map(\.method) == [Method.channelCloseOk])
        try broker.open(1)
        try broker.send(Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 0))
        #expect(broker.recorder.events.count == 1)
    }

    @Test("a channel may be opened again from inside the report of its end")
    func reopensFromCallback() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let session = broker.session
        broker.recorder.onEvent = { event in
            if case .channelClosed = event { try? session.openChannel(1) }
        }
        try broker.send(
            Wire.method(1, 20, 40) {
                $0.u16(404)
                $0.short("NOT_FOUND")
                $0.u16(60)
                $0.u16(20)
            })
        #expect(broker.frames().map(\.method) == [Method.channelCloseOk, Method.channelOpen])
    }

    @Test("nothing is reported of a channel that is being closed")
    func dropsAfterClose() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        try broker.send(Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 4) + Wire.body(1, [1, 2]))
        try broker.session.closeChannel(1)
        #expect(broker.frames().map(\.method) == [Method.channelClose])
        try broker.send(Wire.body(1, [3, 4]) + Wire.deliver(1, tag: 2) + Wire.header(1, bodySize: 0))
        #expect(broker.recorder.events.isEmpty)
        try broker.send(Wire.method(1, 20, 41))
        #expect(broker.recorder.events == [.channelClosed(1, code: 200, text: "closed as asked for")])
    }

    @Test("a connection that the broker closes is answered, reported and ended")
    func answersConnectionClose() throws {
        let broker = try ScriptedBroker()
        let error = #expect(throws: AMQPError.self) {
            try broker.send(
                Wire.method(0, 10, 50) {
                    $0.u16(320)
                    $0.short("CONNECTION_FORCED")
                    $0.u16(0)
                    $0.u16(0)
                })
        }
        #expect(error?.code == .connectionClosed && error?.replyCode == 320 && error?.isRetriable == true)
        #expect(broker.recorder.events == [.connectionClosed(code: 320, text: "CONNECTION_FORCED")])
        #expect(broker.frames().map(\.method) == [Method.connectionCloseOk])
        #expect(throws: AMQPError.self) { try broker.send(Wire.frame(8, 0, [])) }
        #expect(broker.session.isClosed)
    }

    @Test("a body over the limit is read, not kept, and the next message is whole")
    func dropsLargeBodies() throws {
        let broker = try ScriptedBroker(bodyLimit: 10)
        try broker.open(1)
        let piece = [UInt8](repeating: 1, count: 100_000)
        try broker.send(
            Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 300_000) + Wire.body(1, piece) + Wire.body(1, piece)
                + Wire.body(1, piece))
        #expect(broker.recorder.lastDelivery?.isTruncated == true)
        #expect(broker.recorder.lastDelivery?.bodySize == 300_000)
        #expect(broker.recorder.lastDelivery?.bytes.count == 4)
        try broker.send(Wire.deliver(1, tag: 2) + Wire.header(1, bodySize: 10) + Wire.body(1, Array(piece[..<10])))
        #expect(broker.recorder.lastDelivery?.isTruncated == false)
        #expect(broker.recorder.lastDelivery?.body.count == 10)
    }

    @Test("an announced body of any size costs nothing", arguments: [UInt64(11), 1 << 40, .max])
    func survivesHugeAnnouncements(size: UInt64) throws {
        let broker = try ScriptedBroker(bodyLimit: 10)
        try broker.open(1)
        try broker.send(Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: size) + Wire.body(1, [1]))
        #expect(broker.recorder.events.isEmpty)
    }

    static let violations: [(String, [UInt8])] = [
        ("a frame on a channel never opened", Wire.deliver(9, tag: 1)),
        ("a body on a channel never opened", Wire.body(64, [1])),
        ("content on channel 0", Wire.body(0, [1])),
        ("a header without a message", Wire.header(1, bodySize: 1)),
        ("a body without a header", Wire.deliver(1, tag: 1) + Wire.body(1, [1])),
        ("a body longer than announced", Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 1) + Wire.body(1, [1, 2])),
        ("a message within a message", Wire.deliver(1, tag: 1) + Wire.deliver(1, tag: 2)),
        ("a second header", Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 1) + Wire.header(1, bodySize: 1)),
        ("an answer to no question", Wire.method(1, 90, 11)),
        ("a method of no class", Wire.method(1, 999, 1)),
        ("a frame of an unknown type", Wire.frame(7, 1, [1])),
        ("a frame without its end", Array(Wire.body(1, [1]).dropLast()) + [0]),
    ]

    @Test("what the protocol does not allow ends the connection", arguments: violations)
    func refusesViolations(what: String, bytes: [UInt8]) throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let error = #expect(throws: AMQPError.self) { try broker.send(bytes) }
        #expect(error?.code == .protocolViolation, "\(what): \(String(describing: error))")
        #expect(throws: AMQPError.self) { try broker.send(Wire.frame(8, 0, [])) }
        #expect(broker.session.isClosed)
        #expect(!broker.session.hasRoom)
    }

    @Test(
        "a raised receive limit takes a header above the negotiated frame size",
        arguments: [(AMQPSession.consumingReceiveLimit, true), (0, false)])
    func raisesReceiveLimit(limit: Int, isRead: Bool) throws {
        let broker = try ScriptedBroker(receiveLimit: limit)
        try broker.open(1)
        let table = Wire { $0.field("x", "x") { $0.long([UInt8](repeating: 1, count: 140_000)) } }.bytes
        let properties = [0x20, 0] + Wire { $0.long(table) }.bytes
        let frames = Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 0, properties: properties)
        if isRead {
            try broker.send(frames)
            #expect(broker.recorder.lastDelivery?.properties.count == properties.count)
        } else {
            #expect(throws: AMQPError.self) { try broker.send(frames) }
        }
    }

    @Test(
        "a refused login says that the password ends with a blank, and nothing else of it",
        arguments: [("geheim ", true), ("geheim", false)])
    func blankAtTheEnd(password: String, isNamed: Bool) throws {
        let refusal = Wire.method(0, 10, 50) {
            $0.u16(403)
            $0.short("ACCESS_REFUSED")
            $0.u16(0)
            $0.u16(0)
        }
        let error = #expect(throws: AMQPError.self) { try ScriptedBroker(password: password, welcome: refusal) }
        #expect(error?.message.contains("ends with a blank") == isNamed)
        #expect(error?.message.contains("geheim") == false)
    }

    @Test(
        "a broken login is an error",
        arguments: [
            [], Array("AMQP".utf8) + [0, 0, 9, 1], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
            Wire.method(0, 10, 50) {
                $0.u16(403)
                $0.short("ACCESS_REFUSED")
                $0.u16(0)
                $0.u16(0)
            },
        ])
    func reportsBrokenLogin(greeting: [UInt8]) {
        #expect(throws: AMQPError.self) { try ScriptedBroker(welcome: greeting) }
    }
}
