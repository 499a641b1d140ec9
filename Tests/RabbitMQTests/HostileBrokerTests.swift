import TestSupport
import Testing

@testable import RabbitMQ

@Suite("A broker that means harm", .timeLimit(.minutes(2)))
struct HostileBrokerTests {
    /// What a broker sends after an orderly login and the opening of channel 1, and whether the connection lives on.
    struct Attack: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var times = 1
        var isSurvived = false
    }

    private static func raw(_ type: UInt8, _ channel: UInt16, size: UInt32, _ payload: [UInt8], end: UInt8 = 0xCE)
        -> [UInt8]
    {
        Wire {
            $0.u8(type)
            $0.u16(channel)
            $0.u32(size)
            $0.raw(payload)
            $0.u8(end)
        }.bytes
    }

    private static func delivery(headers: [UInt8]) -> [UInt8] {
        Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 0, properties: [0x20, 0] + Wire { $0.long(headers) }.bytes)
    }

    private static let beginning: [UInt8] = Wire.deliver(1, tag: 1)

    private static let frames: [Attack] = [
        Attack(testDescription: "method frame without a method", bytes: raw(1, 1, size: 0, [])),
        Attack(testDescription: "method frame of three bytes", bytes: raw(1, 1, size: 3, [0, 60, 0])),
        Attack(testDescription: "header frame of one byte", bytes: raw(2, 1, size: 1, [0])),
        Attack(testDescription: "header frame of four bytes", bytes: raw(2, 1, size: 4, [0, 60, 0, 0])),
        Attack(testDescription: "frame that ends too early", bytes: raw(3, 1, size: 1, [1, 2, 3])),
        Attack(testDescription: "frame without its end", bytes: raw(3, 1, size: 1, [1], end: 0)),
        Attack(testDescription: "frame of 4 GiB", bytes: raw(3, 1, size: .max, [1])),
        Attack(testDescription: "frame of 2 GiB", bytes: raw(3, 1, size: 0x7FFF_FFFF, [1])),
        Attack(testDescription: "frame just over the limit", bytes: raw(3, 1, size: 131_073, [1])),
        Attack(
            testDescription: "a frame of an unknown type",
            bytes: raw(7, 1, size: 100_000, [UInt8](repeating: 1, count: 100_000))),
        Attack(testDescription: "HTTP", bytes: Array("HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n".utf8)),
        Attack(testDescription: "noise", bytes: [UInt8](repeating: 0xFF, count: 4096)),
        Attack(testDescription: "zeros", bytes: [UInt8](repeating: 0, count: 4096)),
        Attack(
            testDescription: "heartbeats without number", bytes: Wire.frame(8, 0, []), times: 20_000, isSurvived: true),
    ]

    private static let methods: [Attack] = [
        Attack(testDescription: "unknown method of a known class", bytes: Wire.method(1, 60, 999)),
        Attack(testDescription: "unknown class", bytes: Wire.method(1, 65_535, 65_535)),
        Attack(testDescription: "a publish to the client", bytes: Wire.method(1, 60, 40) { $0.raw([0, 0, 0, 0, 0]) }),
        Attack(testDescription: "delivery cut short", bytes: Wire.method(1, 60, 60) { $0.raw([200, 65]) }),
        Attack(testDescription: "close cut short", bytes: Wire.method(1, 20, 40) { $0.u16(404) }),
        Attack(testDescription: "a tune after the login", bytes: Wire.method(0, 10, 30) { $0.u64(0) }),
        Attack(testDescription: "alarms without number", bytes: alarm, times: 5_000, isSurvived: true),
        Attack(testDescription: "confirms of nothing", bytes: confirm, times: 5_000, isSurvived: true),
    ]

    private static let alarm: [UInt8] = Wire.method(0, 10, 60) { $0.short("low") } + Wire.method(0, 10, 61)
    private static let confirm: [UInt8] = Wire.method(1, 60, 80) {
        $0.u64(.max)
        $0.u8(1)
    }

    private static let contents: [Attack] = [
        Attack(
            testDescription: "more body than announced",
            bytes: beginning + Wire.header(1, bodySize: 3) + Wire.body(1, [1, 2, 3, 4])),
        // How many are allowed is the owner's to know, who acknowledges: a lane's route counts them.
        Attack(
            testDescription: "deliveries without number", bytes: beginning + Wire.header(1, bodySize: 0),
            times: 20_000, isSurvived: true),
        Attack(testDescription: "a body for ever", bytes: endlessBody, isSurvived: true),
        Attack(testDescription: "empty bodies without number", bytes: emptyBodies, isSurvived: true),
        Attack(
            testDescription: "tables within tables", bytes: delivery(headers: Wire.nestedTable(levels: 15_000)),
            isSurvived: true),
        Attack(testDescription: "a table that claims 4 GiB", bytes: hugeTable, isSurvived: true),
        Attack(testDescription: "a text that claims 4 GiB", bytes: delivery(headers: hugeText), isSurvived: true),
        Attack(testDescription: "an array of half a table", bytes: delivery(headers: tornArray), isSurvived: true),
        Attack(
            testDescription: "a field of no kind", bytes: delivery(headers: Wire { $0.field("x", "?") }.bytes),
            isSurvived: true),
        Attack(testDescription: "thirty thousand fields", bytes: delivery(headers: manyFields), isSurvived: true),
        Attack(testDescription: "property flags without end", bytes: endlessFlags, isSurvived: true),
    ]

    private static let piece: [UInt8] = Wire.body(1, [UInt8](repeating: 1, count: 131_000))
    private static let endlessBody: [UInt8] =
        beginning + Wire.header(1, bodySize: .max) + piece.repeated(64)
    private static let emptyBodies: [UInt8] =
        beginning + Wire.header(1, bodySize: 1) + Wire.body(1, []).repeated(20_000)
    private static let hugeTable: [UInt8] =
        beginning + Wire.header(1, bodySize: 0, properties: [0x20, 0, 255, 255, 255, 255])
    private static let hugeText: [UInt8] = Wire { $0.field("x", "S") { $0.u32(.max) } }.bytes
    private static let tornArray: [UInt8] = Wire { wire in
        wire.field("x", "A") { $0.long([0x46, 0, 0, 0, 9, 1, 110, 65]) }
    }.bytes
    private static let manyFields = Wire { $0.field("", "V") }.bytes.repeated(30_000)
    private static let endlessFlags: [UInt8] =
        beginning + Wire.header(1, bodySize: 0, properties: [UInt8](repeating: 0xFF, count: 1_000))

    static let attacks: [Attack] = frames + methods + contents

    @Test("loses its connection or is survived; nothing crashes and memory stays bounded", arguments: attacks)
    func attack(_ attack: Attack) throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let before = try ResidentMemory.bytes()
        var failure: AMQPError?
        do throws(AMQPError) {
            for _ in 0..<attack.times { try broker.send(attack.bytes) }
        } catch {
            failure = error
        }
        #expect((failure == nil) == attack.isSurvived, "\(failure as Any)")
        #expect(broker.session.isClosed != attack.isSurvived)
        #expect(try ResidentMemory.bytes() - before < 64 << 20)
        // A damaged property list is the reader's to refuse: it costs its message, not the connection.
        if let delivery = broker.recorder.lastDelivery { readAll(delivery) }
    }

    /// Reads properties and headers of a delivery as far as that goes.
    private func readAll(_ delivery: Delivery) {
        guard let properties = try? MessagePropertyReader(delivery.bytes, delivery.properties),
            let headers = properties.headers
        else { return }
        _ = try? FieldTable(reading: headers, in: delivery.bytes)
    }

    @Test("frames on sixty-five thousand channels end the connection at the first")
    func channelFlood() throws {
        let broker = try ScriptedBroker()
        try broker.open(1)
        let before = try ResidentMemory.bytes()
        let error = #expect(throws: AMQPError.self) {
            for channel in UInt16(65)...UInt16.max { try broker.send(Wire.body(channel, [1])) }
        }
        #expect(error?.code == .protocolViolation && error?.message.contains("channel 65") == true, "\(error as Any)")
        #expect(try ResidentMemory.bytes() - before < 16 << 20)
    }

    @Test(
        "a login with limits that make no sense is refused, or held to sane ones",
        arguments: [UInt32(0), 1, 7, 8, 4095, 4096, 8191, 8192, 131_072, .max], [UInt16(0), 1, .max])
    func tuning(frameMax: UInt32, channelMax: UInt16) throws {
        do {
            let broker = try ScriptedBroker(channelMax: channelMax, frameMax: frameMax)
            #expect((8192...131_072).contains(broker.session.frameMax))
            #expect((1...256).contains(broker.session.channelMax))
            try broker.open(1)
            try broker.send(Wire.deliver(1, tag: 1) + Wire.header(1, bodySize: 1) + Wire.body(1, [1]))
            #expect(broker.recorder.events.count == 1)
        } catch {
            #expect(error is AMQPError, "\(error)")
            #expect(!(8192...131_072).contains(frameMax), "\(error)")
        }
    }

    private static let logins: [[UInt8]] = [
        raw(1, 0, size: 0, []), raw(1, 0, size: .max, [1]), raw(8, 0, size: 0, []),
        raw(1, 0, size: 131_072, [UInt8](repeating: 0, count: 64)), raw(1, 1, size: 4, [0, 20, 0, 11]),
        start(major: 0, properties: Wire.nestedTable(levels: 9_000)) + Wire.method(0, 10, 30) { $0.u8(0) },
        start(major: 9, properties: []),
    ]

    private static func start(major: UInt8, properties: [UInt8]) -> [UInt8] {
        Wire.method(0, 10, 10) {
            $0.u8(major)
            $0.u8(9)
            $0.long(properties)
            $0.long(Array("PLAIN".utf8))
            $0.long(Array("en_US".utf8))
        }
    }

    @Test(
        "a login that goes wrong on purpose is an error, and the password is not in it",
        arguments: logins)
    func login(greeting: [UInt8]) throws {
        let error = #expect(throws: AMQPError.self) { try ScriptedBroker(welcome: greeting) }
        #expect(error?.message.contains("guest\0guest") == false)
    }
}
