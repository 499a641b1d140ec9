import TestSupport
import Testing

@testable import RabbitMQ

@Suite("Requests about queues and exchanges", .timeLimit(.minutes(1)))
struct AMQPRequestTests {
    private static let arguments = FieldTable(entries: [.init(name: Array("a".utf8), value: .boolean(true))])
    /// `arguments` on the wire.
    private static let table: [UInt8] = [0, 0, 0, 4, 1, 97, 116, 1]
    private static let rows: [(AMQPRequest, [UInt8])] = [
        (.get(queue: "q"), [0, 60, 0, 70, 0, 0, 1, 113, 0]),
        (
            .declareQueue(name: "q", isExclusive: false, arguments: arguments),
            [0, 50, 0, 10, 0, 0, 1, 113, 0b00010] + table
        ),
        (
            .declareQueue(name: "", isExclusive: true, arguments: FieldTable()),
            [0, 50, 0, 10, 0, 0, 0, 0b01100, 0, 0, 0, 0]
        ),
        (.inspectQueue(name: "q"), [0, 50, 0, 10, 0, 0, 1, 113, 0b00001, 0, 0, 0, 0]),
        (
            .bindQueue(name: "q", exchange: "x", routingKey: "k"),
            [0, 50, 0, 20, 0, 0, 1, 113, 1, 120, 1, 107, 0, 0, 0, 0, 0]
        ),
        (
            .declareExchange(name: "x", type: "topic", arguments: arguments),
            [0, 40, 0, 10, 0, 0, 1, 120, 5] + Array("topic".utf8) + [0b00010] + table
        ),
        (
            .inspectExchange(name: "x"),
            [0, 40, 0, 10, 0, 0, 1, 120, 5] + Array("topic".utf8) + [0b00001, 0, 0, 0, 0]
        ),
        (.purgeQueue(name: "q"), [0, 50, 0, 30, 0, 0, 1, 113, 0]),
        (.deleteQueue(name: "q"), [0, 50, 0, 40, 0, 0, 1, 113, 0]),
    ]

    @Test("are written as the protocol has them")
    func wire() throws {
        let broker = try ScriptedBroker()
        try broker.open(5)
        for (request, payload) in Self.rows {
            try broker.session.ask(request, on: 5)
            #expect(broker.frames() == [SentFrame(type: 1, channel: 5, payload: payload)], "\(request)")
        }
    }

    @Test("carry arguments of any size")
    func largeArguments() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let large = FieldTable(entries: [
            .init(name: Array("a".utf8), value: .text([UInt8](repeating: 97, count: 5_000)))
        ])
        try broker.session.ask(.declareQueue(name: "q", isExclusive: false, arguments: large), on: 1)
        #expect(broker.frames().map(\.payload.count) == [9 + 4 + 3 + 4 + 5_000])
    }

    @Test("with a name that is too long are refused before anything is sent, and the session stays as it was")
    func longNames() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let long = String(repeating: "q", count: 256)
        for request: AMQPRequest in [
            .get(queue: long), .bindQueue(name: "q", exchange: "x", routingKey: long),
            .declareExchange(name: "x", type: long, arguments: FieldTable()), .deleteQueue(name: long),
        ] {
            let error = #expect(throws: AMQPError.self) { try broker.session.ask(request, on: 1) }
            #expect(error?.code == .invalidMessage)
        }
        #expect(broker.frames().isEmpty && broker.session.isOpen)
        try broker.session.ask(.purgeQueue(name: String(long.dropLast())), on: 1)
        #expect(broker.frames().count == 1)
    }
}
