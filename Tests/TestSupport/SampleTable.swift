package import RabbitMQ

/// A table of headers with a value of every kind.
package enum SampleTable {
    /// The table in its wire form.
    package static let table = Wire {
        $0.field("S", "S") { $0.long(Array("text".utf8)) }
        $0.field("x", "x") { $0.long([0, 255]) }
        $0.field("t", "t") { $0.u8(1) }
        $0.field("b", "b") { $0.number(Int8.min) }
        $0.field("B", "B") { $0.u8(255) }
        $0.field("s", "s") { $0.number(Int16.min) }
        $0.field("u", "u") { $0.u16(.max) }
        $0.field("I", "I") { $0.number(Int32.min) }
        $0.field("i", "i") { $0.u32(.max) }
        $0.field("l", "l") { $0.number(Int64.min) }
        $0.field("L", "L") { $0.u64(.max) }
        $0.field("L2", "L") { $0.u64(5) }
        $0.field("f", "f") { $0.u32(Float(1.5).bitPattern) }
        $0.field("d", "d") { $0.u64(Double(-0.25).bitPattern) }
        $0.field("D", "D") {
            $0.u8(2)
            $0.u32(314)
        }
        $0.field("T", "T") { $0.u64(1_763_712_800) }
        $0.field("V", "V")
        $0.field("F", "F") { $0.long(Wire { $0.field("in", "I") { $0.u32(7) } }.bytes) }
        $0.field("A", "A") {
            $0.long(
                Wire {
                    $0.u8(UInt8(ascii: "I"))
                    $0.u32(1)
                    $0.u8(UInt8(ascii: "V"))
                }.bytes)
        }
    }.bytes

    /// The entries in the table's order.
    package static let expected: [(String, FieldValue)] = [
        ("S", .text("text")), ("x", .bytes([0, 255])), ("t", .boolean(true)), ("b", .integer(-128)),
        ("B", .integer(255)), ("s", .integer(-32768)), ("u", .integer(65535)), ("I", .integer(Int64(Int32.min))),
        ("i", .integer(Int64(UInt32.max))), ("l", .integer(.min)), ("L", .unsigned(.max)), ("L2", .integer(5)),
        ("f", .float(1.5)), ("d", .double(-0.25)), ("D", .decimal(scale: 2, value: 314)),
        ("T", .timestamp(1_763_712_800)), ("V", .void),
        ("F", .table(FieldTable(entries: [.init(name: Array("in".utf8), value: .integer(7))]))),
        ("A", .array([.integer(1), .void])),
    ]
}
