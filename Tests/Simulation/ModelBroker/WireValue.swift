import TestSupport

/// A value in a field table. Scalars keep their bytes, so that what the broker hands on is what the client wrote.
indirect enum WireValue: Equatable {
    case scalar(kind: UInt8, bytes: [UInt8])
    case text([UInt8])
    case array([WireValue])
    case table(WireTable)

    static func text(_ text: String) -> WireValue { .text(Array(text.utf8)) }
    static func long(_ number: Int64) -> WireValue { .scalar(kind: Kind.long, bytes: Wire { $0.number(number) }.bytes) }
    static func timestamp(_ seconds: UInt64) -> WireValue {
        .scalar(kind: Kind.timestamp, bytes: Wire { $0.u64(seconds) }.bytes)
    }

    /// The kinds that the model names (AMQP 0-9-1 and RabbitMQ's errata).
    enum Kind {
        static let text = UInt8(ascii: "S")
        static let array = UInt8(ascii: "A")
        static let table = UInt8(ascii: "F")
        static let long = UInt8(ascii: "l")
        static let timestamp = UInt8(ascii: "T")
        /// How many bytes a scalar of each kind has; nil for a kind that nobody knows.
        static func size(_ kind: UInt8) -> Int? {
            switch kind {
            case UInt8(ascii: "V"): 0
            case UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "B"): 1
            case UInt8(ascii: "s"), UInt8(ascii: "u"): 2
            case UInt8(ascii: "I"), UInt8(ascii: "i"), UInt8(ascii: "f"): 4
            case UInt8(ascii: "D"): 5
            case UInt8(ascii: "l"), UInt8(ascii: "L"), UInt8(ascii: "d"), UInt8(ascii: "T"): 8
            default: nil
            }
        }
    }

    /// The number of an integer or a boolean.
    var number: Int64? {
        guard case .scalar(let kind, let bytes) = self else { return nil }
        let isSigned = [UInt8(ascii: "b"), UInt8(ascii: "s"), UInt8(ascii: "I"), Kind.long].contains(kind)
        guard isSigned || "tBuiLT".utf8.contains(kind), let first = bytes.first else { return nil }
        let start: Int64 = isSigned && first >= 0x80 ? -1 : 0
        return bytes.reduce(start) { $0 << 8 | Int64($1) }
    }

    /// The text of a string, where it is UTF-8.
    var string: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A field table: names and values in their order on the wire.
struct WireTable: Equatable {
    var fields: [(name: String, value: WireValue)] = []

    init(_ fields: [(name: String, value: WireValue)] = []) { self.fields = fields }

    static func == (one: WireTable, other: WireTable) -> Bool {
        one.fields.count == other.fields.count
            && zip(one.fields, other.fields).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    }

    subscript(name: String) -> WireValue? {
        get { fields.first { $0.name == name }?.value }
        set {
            guard let position = fields.firstIndex(where: { $0.name == name }) else {
                if let newValue { fields.append((name, newValue)) }
                return
            }
            if let newValue { fields[position].value = newValue } else { fields.remove(at: position) }
        }
    }
}

/// What cannot be read of what a client sent.
struct WireError: Error, CustomStringConvertible {
    let description: String
}

/// Reads AMQP 0-9-1 by hand: the model shares no code with the client that it judges.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func raw(_ count: Int) throws(WireError) -> [UInt8] {
        guard count >= 0, bytes.count - position >= count else { throw WireError(description: "cut off") }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(WireError) -> Number {
        try raw(Number.bitWidth / 8).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
    mutating func u8() throws(WireError) -> UInt8 { try number() }
    mutating func u16() throws(WireError) -> UInt16 { try number() }
    mutating func u64() throws(WireError) -> UInt64 { try number() }
    /// Up to eight flags, the first in the lowest bit.
    mutating func flags() throws(WireError) -> UInt8 { try u8() }
    mutating func shortBytes() throws(WireError) -> [UInt8] { try raw(Int(try u8())) }
    mutating func short() throws(WireError) -> String { String(decoding: try shortBytes(), as: UTF8.self) }
    mutating func long() throws(WireError) -> [UInt8] { try raw(Int(try number(UInt32.self))) }

    mutating func table() throws(WireError) -> WireTable {
        var inner = WireReader(try long())
        var table = WireTable()
        while !inner.isAtEnd { table.fields.append((try inner.short(), try inner.value())) }
        return table
    }

    mutating func value() throws(WireError) -> WireValue {
        let kind = try u8()
        switch kind {
        case WireValue.Kind.text: return .text(try long())
        case WireValue.Kind.table: return .table(try table())
        case WireValue.Kind.array:
            var inner = WireReader(try long())
            var values: [WireValue] = []
            while !inner.isAtEnd { values.append(try inner.value()) }
            return .array(values)
        case UInt8(ascii: "x"): return .scalar(kind: kind, bytes: try long())
        default:
            guard let size = WireValue.Kind.size(kind) else { throw WireError(description: "kind \(kind)") }
            return .scalar(kind: kind, bytes: try raw(size))
        }
    }
}

extension Wire {
    mutating func table(_ table: WireTable) {
        long(
            Wire {
                for field in table.fields {
                    $0.short(field.name)
                    $0.value(field.value)
                }
            }.bytes)
    }

    mutating func value(_ value: WireValue) {
        switch value {
        case .text(let bytes):
            u8(WireValue.Kind.text)
            long(bytes)
        case .table(let table):
            u8(WireValue.Kind.table)
            self.table(table)
        case .array(let values):
            u8(WireValue.Kind.array)
            long(Wire { for value in values { $0.value(value) } }.bytes)
        case .scalar(let kind, let bytes):
            u8(kind)
            if kind == UInt8(ascii: "x") { long(bytes) } else { raw(bytes) }
        }
    }
}
