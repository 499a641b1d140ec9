import TestSupport

@testable import Simulation

/// Carries bytes between a script's client and a broker, and waits as its broker needs it.
protocol ScriptTransport: AnyObject {
    func send(_ bytes: [UInt8]) throws
    /// What has arrived, or arrives within a time; empty where nothing does.
    func receive(within patience: Duration) throws -> [UInt8]
    func cut()
}

/// A client for scripts: methods out, events in, all by hand.
///
/// An event is a line such as `deliver 1 new k hello`, which a script can compare.
final class ScriptClient {
    private let transport: any ScriptTransport
    private var unread: [UInt8] = []
    private var method: [UInt8]?
    private var properties: [UInt8] = []
    private var missing = 0
    private var body: [UInt8] = []
    private(set) var events: [String] = []
    /// The headers of the message that arrived last.
    private(set) var headers = WireTable()
    /// The properties of the message that arrived last.
    private(set) var lastProperties: ModelProperties?
    /// What the broker calls itself.
    private(set) var version = ""

    init(_ transport: any ScriptTransport, user: String = "guest", capabilities: [String] = ScriptClient.all) throws {
        self.transport = transport
        try transport.send(Array("AMQP".utf8) + [0, 0, 9, 1])
        try expect("start")
        let flags = capabilities.map { (name: $0, value: WireValue.scalar(kind: UInt8(ascii: "t"), bytes: [1])) }
        try transport.send(
            Wire.method(0, 10, 11) {
                $0.table(WireTable([("capabilities", .table(WireTable(flags)))]))
                $0.short("PLAIN")
                $0.long([0] + Array(user.utf8) + [0] + Array(user.utf8))
                $0.short("en_US")
            })
        guard try next() == "tune" else { return }
        try transport.send(
            Wire.method(0, 10, 31) {
                $0.u16(2047)
                $0.u32(131_072)
                $0.u16(0)
            }
                + Wire.method(0, 10, 40) {
                    $0.short("/")
                    $0.short("")
                    $0.u8(0)
                })
        try expect("open-ok")
    }

    static let all = ["publisher_confirms", "basic.nack", "consumer_cancel_notify", "connection.blocked"]

    func cut() { transport.cut() }

    // MARK: Out

    func send(_ channel: UInt16 = 1, _ group: UInt16, _ number: UInt16, _ arguments: (inout Wire) -> Void = { _ in })
        throws
    { try transport.send(Wire.method(channel, group, number, arguments)) }

    func open(_ channel: UInt16 = 1) throws {
        try send(channel, 20, 10) { $0.short("") }
        try expect("channel-open-ok")
    }

    func declareQueue(_ name: String, exclusive: Bool = false, _ arguments: [(String, WireValue)] = []) throws {
        let type = exclusive ? [] : [("x-queue-type", WireValue.text("quorum"))]
        let given = arguments.contains { $0.0 == "x-queue-type" } ? arguments : type + arguments
        try send(1, 50, 10) {
            $0.u16(0)
            $0.short(name)
            $0.u8(exclusive ? 4 : 2)
            $0.table(WireTable(given.map { (name: $0.0, value: $0.1) }))
        }
        try expect("declare-ok")
    }

    func declareExchange(_ name: String, _ type: String, alternate: String? = nil) throws {
        let arguments = alternate.map { [(name: "alternate-exchange", value: WireValue.text($0))] } ?? []
        try send(1, 40, 10) {
            $0.u16(0)
            $0.short(name)
            $0.short(type)
            $0.u8(0)
            $0.table(WireTable(arguments))
        }
        try expect("exchange-ok")
    }

    func bind(_ queue: String, to exchange: String, _ key: String = "") throws {
        try send(1, 50, 20) {
            $0.u16(0)
            $0.short(queue)
            $0.short(exchange)
            $0.short(key)
            $0.u8(0)
            $0.table(WireTable())
        }
        try expect("bind-ok")
    }

    func bindExchange(_ destination: String, to source: String, _ key: String = "") throws {
        try send(1, 40, 30) {
            $0.u16(0)
            $0.short(destination)
            $0.short(source)
            $0.short(key)
            $0.u8(0)
            $0.table(WireTable())
        }
        try expect("exchange-bind-ok")
    }

    func publish(
        _ body: String, to exchange: String = "", _ key: String, mandatory: Bool = false, expiration: String? = nil,
        headers: [(String, WireValue)] = [], channel: UInt16 = 1
    ) throws {
        var flags: UInt16 = 1 << 12
        if !headers.isEmpty { flags |= 1 << 13 }
        if expiration != nil { flags |= 1 << 8 }
        let properties = Wire {
            $0.u16(flags)
            if !headers.isEmpty { $0.table(WireTable(headers.map { (name: $0.0, value: $0.1) })) }
            $0.u8(2)
            if let expiration { $0.short(expiration) }
        }.bytes
        try transport.send(
            Wire.method(channel, 60, 40) {
                $0.u16(0)
                $0.short(exchange)
                $0.short(key)
                $0.u8(mandatory ? 1 : 0)
            } + Wire.header(channel, bodySize: UInt64(body.utf8.count), properties: properties)
                + (body.isEmpty ? [] : Wire.body(channel, Array(body.utf8))))
    }

    func confirms() throws {
        try send(1, 85, 10) { $0.u8(0) }
        try expect("select-ok")
    }

    func consume(
        _ queue: String, prefetch: UInt16, tag: String = "c", channel: UInt16 = 1,
        _ arguments: [(String, WireValue)] = []
    ) throws {
        try send(channel, 60, 10) {
            $0.u32(0)
            $0.u16(prefetch)
            $0.u8(0)
        }
        try expect("qos-ok")
        try send(channel, 60, 20) {
            $0.u16(0)
            $0.short(queue)
            $0.short(tag)
            $0.u8(0)
            $0.table(WireTable(arguments.map { (name: $0.0, value: $0.1) }))
        }
    }

    func cancel(_ tag: String = "c") throws {
        try send(1, 60, 30) {
            $0.short(tag)
            $0.u8(0)
        }
    }

    func acknowledge(_ tag: UInt64, multiple: Bool = false, channel: UInt16 = 1) throws {
        try send(channel, 60, 80) {
            $0.u64(tag)
            $0.u8(multiple ? 1 : 0)
        }
    }

    func reject(_ tag: UInt64, requeue: Bool) throws {
        try send(1, 60, 90) {
            $0.u64(tag)
            $0.u8(requeue ? 1 : 0)
        }
    }

    func negativeAcknowledge(_ tag: UInt64, multiple: Bool = false, requeue: Bool = true) throws {
        try send(1, 60, 120) {
            $0.u64(tag)
            $0.u8((multiple ? 1 : 0) | (requeue ? 2 : 0))
        }
    }

    func get(_ queue: String) throws -> String {
        try send(1, 60, 70) {
            $0.u16(0)
            $0.short(queue)
            $0.u8(0)
        }
        return try next()
    }

    /// Fetches from a queue until something is in it: what the broker does by itself takes a moment.
    func awaitMessage(in queue: String) throws -> String {
        for _ in 0..<1000 {
            let event = try get(queue)
            if event != "empty" { return event }
            try read(transport.receive(within: .milliseconds(20)))
        }
        throw ScriptFailure("nothing came to \(queue)")
    }

    func deleteQueue(_ name: String) throws {
        try send(1, 50, 40) {
            $0.u16(0)
            $0.short(name)
            $0.u8(0)
        }
    }

    // MARK: In

    func expect(_ event: String) throws {
        let found = try next()
        guard found == event else { throw ScriptFailure("expected \(event), found \(found)") }
    }

    /// The next event.
    func next() throws -> String {
        while events.isEmpty {
            let bytes = try transport.receive(within: .seconds(20))
            guard !bytes.isEmpty else { return "nothing" }
            try read(bytes)
        }
        return events.removeFirst()
    }

    func next(_ count: Int) throws -> [String] { try (0..<count).map { _ in try next() } }

    private func read(_ bytes: [UInt8]) throws {
        unread += bytes
        while unread.count >= 8 {
            let size = unread[3..<7].reduce(0) { $0 << 8 | Int($1) }
            guard unread.count >= size + 8 else { return }
            let (kind, channel) = (unread[0], UInt16(unread[1]) << 8 | UInt16(unread[2]))
            let payload = Array(unread[7..<(7 + size)])
            unread.removeFirst(size + 8)
            try handle(kind, channel, payload)
        }
    }

    private func handle(_ kind: UInt8, _ channel: UInt16, _ payload: [UInt8]) throws {
        switch kind {
        case 1:
            let number = (UInt16(payload[0]) << 8 | UInt16(payload[1]), UInt16(payload[2]) << 8 | UInt16(payload[3]))
            if number.0 == 60, [50, 60, 71].contains(number.1) {
                method = payload
            } else {
                try note(number, channel, payload)
            }
        case 2:
            missing = payload[4..<12].reduce(0) { $0 << 8 | Int($1) }
            properties = Array(payload[12...])
            body = []
            try completeMessage()
        case 3:
            body += payload
            missing -= payload.count
            try completeMessage()
        default: break
        }
    }

    private func completeMessage() throws {
        guard missing == 0, let method else { return }
        self.method = nil
        let read = try ModelProperties(reading: properties)
        lastProperties = read
        headers = read.headers ?? WireTable()
        let text = String(decoding: body, as: UTF8.self)
        var reader = WireReader(method)
        _ = try reader.u16()
        switch try reader.u16() {
        case 60:
            let consumer = try reader.short()
            let (tag, again) = (try reader.u64(), try reader.u8() != 0)
            let (exchange, key) = (try reader.short(), try reader.short())
            events.append("\(consumer) \(tag) \(again ? "again" : "new") \(exchange)/\(key) \(text)")
        case 71:
            let (_, again) = (try reader.u64(), try reader.u8() != 0)
            events.append("got \(again ? "again" : "new") \(try reader.short())/\(try reader.short()) \(text)")
        default:
            let code = try reader.u16()
            _ = try reader.short()
            events.append("returned \(code) \(try reader.short())/\(try reader.short()) \(text)")
        }
    }

    private func note(_ number: (UInt16, UInt16), _ channel: UInt16, _ payload: [UInt8]) throws {
        var reader = WireReader(Array(payload.dropFirst(4)))
        switch number {
        case (10, 10):
            _ = try reader.u16()
            version = try reader.table()["version"]?.string ?? ""
            events.append("start")
        case (60, 80), (60, 120):
            let (tag, multiple) = (try reader.u64(), try reader.u8() & 1 != 0)
            events.append("\(number.1 == 80 ? "ack" : "nack") \(tag)\(multiple ? " multiple" : "")")
        case (20, 40), (10, 50):
            let code = try reader.u16()
            events.append("\(number.0 == 20 ? "channel" : "connection") closed \(code)")
            try transport.send(Wire.method(channel, number.0, number.1 + 1))
        case (60, 30):
            events.append("cancelled \(try reader.short())")
        case (10, 60): events.append("blocked")
        default: events.append(Self.names[[number.0, number.1]] ?? "\(number.0).\(number.1)")
        }
    }

    private static let names: [[UInt16]: String] = [
        [10, 30]: "tune", [10, 41]: "open-ok", [10, 61]: "unblocked", [20, 11]: "channel-open-ok",
        [20, 41]: "channel-close-ok", [40, 11]: "exchange-ok", [40, 31]: "exchange-bind-ok", [50, 11]: "declare-ok",
        [50, 21]: "bind-ok", [50, 31]: "purge-ok", [50, 41]: "delete-ok", [60, 11]: "qos-ok", [60, 21]: "consume-ok",
        [60, 31]: "cancel-ok", [60, 72]: "empty", [85, 11]: "select-ok",
    ]
}

struct ScriptFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
