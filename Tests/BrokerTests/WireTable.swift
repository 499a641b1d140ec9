/// Content of header tables, byte by byte (AMQP 0-9-1, 4.2.5.5, with RabbitMQ's kinds).
enum WireTable {
    /// One entry; the value is written as it is.
    static func entry(_ name: String, _ kind: Character, _ value: [UInt8]) -> [UInt8] {
        [UInt8(name.utf8.count)] + Array(name.utf8) + [kind.asciiValue ?? 0] + value
    }

    /// A length in four bytes, then the bytes.
    static func long(_ bytes: [UInt8]) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) } + bytes
    }

    /// Tables within tables, written from the outside because the innermost is the last to be complete.
    static func nested(_ levels: Int) -> [UInt8] {
        // Each level adds a name of one byte, the kind and the length of what it holds.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(levels * 7)
        for level in (0..<levels).reversed() {
            bytes += entry("n", "F", (0..<4).reversed().map { UInt8(truncatingIfNeeded: (level * 7) >> ($0 * 8)) })
        }
        return bytes
    }

    /// A table of exactly this size, with one long text.
    static func wide(_ size: Int) -> [UInt8] {
        entry("filler", "S", long(Array(repeating: UInt8(ascii: "x"), count: size - 12)))
    }

    /// A header of every kind that RabbitMQ knows, none of which means anything to a worker.
    static let everyKind: [UInt8] = [
        entry("a-bool", "t", [1]), entry("a-i8", "b", [0xFE]), entry("a-u8", "B", [0xFE]),
        entry("a-i16", "s", [0x80, 1]), entry("a-u16", "u", [0x80, 1]), entry("a-i32", "I", [0x80, 0, 0, 1]),
        entry("a-u32", "i", [0x80, 0, 0, 1]), entry("a-i64", "l", [0x80, 0, 0, 0, 0, 0, 0, 1]),
        entry("a-float", "f", [0x3F, 0x80, 0, 0]), entry("a-double", "d", [0x3F, 0xF0, 0, 0, 0, 0, 0, 0]),
        entry("a-decimal", "D", [2, 0, 0, 1, 0x3A]), entry("a-text", "S", long(Array("text".utf8))),
        entry("a-bytes", "x", long([0, 0xFF, 0])), entry("a-time", "T", [0, 0, 0, 0, 0x69, 0x20, 0, 0]),
        entry("a-void", "V", []), entry("a-table", "F", long(entry("in", "A", long([UInt8(ascii: "t"), 0])))),
        entry("a-list", "A", long(Array("V".utf8) + [UInt8(ascii: "b"), 7])),
    ].flatMap { $0 }
}
