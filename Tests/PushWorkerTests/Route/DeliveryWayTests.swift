import PushModel
import TestSupport
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("How a delivery came", .timeLimit(.minutes(1)))
struct DeliveryWayTests {
    /// What a delivery's way is expected to be.
    enum Expected { case returned, published, moved, exchange, deadLetters }

    /// Queues that dead-lettered the message, as `x-death` names them; nil without that header.
    typealias Row = (exchange: String, deaths: [String]?, expected: Expected)

    private static let table: [Row] = [
        // What came back from a tier died there.
        ("apns.return", ["apns.q.retry.15s"], .returned),
        ("apns.return", nil, .returned),
        ("apns.return.moving", ["apns.q.retry.15s"], .returned),
        // A producer's message.
        ("apns.jobs", nil, .published),
        ("apns.jobs", [], .published),
        ("apns.jobs.moving", nil, .published),
        // Producers can write the header, up to RabbitMQ 3.13. Or a person published a letter with all its headers.
        ("apns.jobs", ["apns.q.jobs.shop"], .published),
        ("apns.jobs", ["apns.q.retry.15s", "apns.q.dead"], .published),
        // A queue's dead letters have any key that the queue's owner chose.
        ("apns.jobs", ["apns.q.reply.shop.dlx"], .deadLetters),
        ("apns.jobs", ["apns.q.tap.shop.1"], .deadLetters),
        ("apns.jobs", ["events"], .deadLetters),
        ("apns.jobs", [""], .deadLetters),
        ("apns.jobs", ["apns.q.jobs.shop", "apns.q.retry.15s", "events"], .deadLetters),
        ("apns.jobs", ["events", "apns.q.jobs.shop"], .deadLetters),
        ("apns.jobs.moving", ["events"], .deadLetters),
        // A company's exchange, which the operator trusts, whatever led there.
        ("events", nil, .published),
        ("events", ["delayed"], .published),
        ("amq.topic", nil, .published),
        // By hand, a shovel, or the federation of queues.
        ("", nil, .moved),
        ("", ["events"], .moved),
        // A way of the producer's own.
        ("apns.q.reply.shop.e", nil, .exchange),
        ("apns.jobs.unrouted", nil, .exchange),
        ("apns.dead", nil, .exchange),
        ("apns.retry.15s", nil, .exchange),
        ("apns.job", nil, .exchange),
        ("apns.jobsx", nil, .exchange),
        ("event", nil, .exchange),
    ]

    @Test("the exchange and the queues that it died in decide", arguments: table.indices)
    func decides(_ row: Int) throws {
        let (exchange, deaths, expected) = Self.table[row]
        let wire = Wire(exchange: exchange, headers: deaths.map { [Wire.death($0)] } ?? [])
        let way = try wire.way(trusting: ["events", "amq.topic"])
        let found: Expected =
            switch way {
            case .returned: .returned
            case .published: .published
            case .moved: .moved
            case .exchange: .exchange
            case .deadLetters: .deadLetters
            }
        #expect(found == expected)
        #expect(way.isUntrusted == (way.refusal(in: wire.bytes) != nil))
    }

    @Test("The page lists the ways, and refuses those that nothing proves")
    func page() throws {
        let rows = try Page(documentation: "Producers").rows("how a job comes", in: "Exchange and routing key")
        let ways: [(exchange: String, death: String?)] = [
            ("apns.jobs", nil), ("amq.topic", nil), ("mine", nil), ("apns.jobs", "mine"), ("", nil),
        ]
        try #require(rows.count == ways.count)
        for (row, way) in zip(rows, ways) {
            let wire = Wire(exchange: way.exchange, headers: way.death.map { [Wire.death([$0])] } ?? [])
            let isRefused = try wire.way(trusting: ["amq.topic"]).isUntrusted
            #expect(row[1].contains("\(Reason.untrustedSource.rawValue)") == isRefused, "\(row[0])")
        }
    }

    @Test(
        "what is not the broker's account of deaths names no queue",
        arguments: [
            FieldValue.text("events"), .array([.text("events")]), .integer(1),
            .array([.table(FieldTable(entries: [.init(name: Array("queue".utf8), value: .integer(1))]))]),
            .table(FieldTable(entries: [.init(name: Array("queue".utf8), value: .text("events"))])),
        ])
    func otherKinds(_ value: FieldValue) throws {
        let headers = [FieldTable.Entry(name: Array("x-death".utf8), value: value)]
        #expect(try Wire(exchange: "apns.jobs", headers: headers).way(trusting: []) == .published)
    }

    @Test("a second header of the name hides nothing")
    func twice() throws {
        for deaths in [[["apns.q.jobs.shop"], ["events"]], [["events"], ["apns.q.jobs.shop"]]] {
            let wire = Wire(exchange: "apns.jobs", headers: deaths.map(Wire.death))
            #expect(try wire.way(trusting: []).isUntrusted)
        }
    }

    @Test("a header beside it that is nested too deeply, or too large, hides nothing")
    func hidden() throws {
        let deep = (0..<10).reduce(FieldValue.integer(1)) { inner, _ in .array([inner]) }
        for value in [deep, .text(String(repeating: "x", count: 60_000))] {
            for deaths in [[], ["events"]] {
                let other = FieldTable.Entry(name: Array("a".utf8), value: value)
                let wire = Wire(exchange: "apns.jobs", headers: [other, Wire.death(deaths)])
                #expect(throws: AMQPError.self) { try wire.way(trusting: []) }
                let way = DeliveryWay(
                    exchange: wire.exchange, damagedHeadersOf: wire.properties, in: wire.bytes, trusting: [])
                #expect(way.isUntrusted == !deaths.isEmpty)
            }
        }
    }
}

/// An exchange's name and a property list with headers, as a delivery has them.
private struct Wire {
    let bytes: [UInt8]
    let exchange: Range<Int>
    let properties: Range<Int>

    init(exchange name: String, headers: [FieldTable.Entry]) {
        let table = Self.encoded(FieldTable(entries: headers))
        bytes = Array(name.utf8) + [1 << 5, 0] + Self.long(table)
        exchange = 0..<name.utf8.count
        properties = exchange.upperBound..<bytes.count
    }

    static func death(_ queues: [String]) -> FieldTable.Entry {
        let deaths = queues.map { queue in
            FieldValue.table(
                FieldTable(entries: [
                    .init(name: Array("reason".utf8), value: .text("expired")),
                    .init(name: Array("queue".utf8), value: .text(queue)),
                ]))
        }
        return .init(name: Array("x-death".utf8), value: .array(deaths))
    }

    /// The way as a delivery's reader finds it.
    func way(trusting: [String]) throws -> DeliveryWay {
        var message = JobMessage(bytes: bytes, routingKey: 0..<0, body: 0..<0)
        let foreign = try DeliveryReader.read(properties, into: &message)
        return DeliveryWay(
            exchange: exchange, foreignDeath: foreign, in: bytes, trusting: trusting.map { Array($0.utf8) })
    }

    private static func long(_ bytes: [UInt8]) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
    }

    private static func encoded(_ table: FieldTable) -> [UInt8] {
        table.entries.flatMap { [UInt8($0.name.count)] + $0.name + encoded($0.value) }
    }

    private static func encoded(_ value: FieldValue) -> [UInt8] {
        switch value {
        case .text(let text): [UInt8(ascii: "S")] + long(text)
        case .integer: [UInt8(ascii: "b"), 1]
        case .table(let table): [UInt8(ascii: "F")] + long(encoded(table))
        case .array(let values): [UInt8(ascii: "A")] + long(values.flatMap(encoded))
        default: [UInt8(ascii: "V")]
        }
    }
}
