import RabbitMQ
import TestSupport
import Testing

@Suite("Readers of the wire form", .timeLimit(.minutes(1)))
struct WireReaderTests {
    /// A property list with every property and a header of every kind.
    static let everything = Wire {
        $0.u16(0b1111_1111_1111_1100)
        $0.short("application/json")
        $0.short("gzip")
        $0.long(SampleTable.table)
        $0.u8(2)
        $0.u8(7)
        $0.short("correlation")
        $0.short("reply")
        $0.short("60000")
        $0.short("message")
        $0.u64(1_763_712_800)
        $0.short("type")
        $0.short("user")
        $0.short("app")
        $0.short("cluster")
    }.bytes

    @Test("every property is found where it stands")
    func readsProperties() throws {
        // Bytes on both sides prove that ranges are counted from the buffer's beginning and stop at the list's end.
        let bytes = [9, 9, 9] + Self.everything + [9]
        let reader = try MessagePropertyReader(bytes, 3..<(bytes.count - 1))
        func text(_ range: Range<Int>?) -> String? { range.map { String(decoding: bytes[$0], as: UTF8.self) } }
        #expect(text(reader.contentType) == "application/json")
        #expect(text(reader.contentEncoding) == "gzip")
        #expect(text(reader.correlationID) == "correlation")
        #expect(text(reader.replyTo) == "reply")
        #expect(text(reader.expiration) == "60000")
        #expect(text(reader.messageID) == "message")
        #expect(text(reader.type) == "type")
        #expect(text(reader.userID) == "user")
        #expect(text(reader.appID) == "app")
        #expect(reader.deliveryMode == 2)
        #expect(reader.priority == 7)
        #expect(reader.timestamp == 1_763_712_800)
        #expect(reader.headers.map { Array(bytes[$0]) } == SampleTable.table)
    }

    @Test("an empty property list has no properties")
    func readsEmptyProperties() throws {
        let reader = try MessagePropertyReader([0, 0], 0..<2)
        #expect(reader.contentType == nil && reader.headers == nil && reader.timestamp == nil)
    }

    @Test("every kind of header value is read")
    func readsTable() throws {
        let table = try FieldTable(reading: 0..<SampleTable.table.count, in: SampleTable.table)
        #expect(table.entries.map { String(decoding: $0.name, as: UTF8.self) } == SampleTable.expected.map(\.0))
        for (entry, expected) in zip(table.entries, SampleTable.expected) { #expect(entry.value == expected.1) }
        #expect(table["D"] == .decimal(scale: 2, value: 314))
        #expect(table["none"] == nil)
    }

    @Test("a property list cut off anywhere is an error, never a trap")
    func survivesTruncation() {
        for length in 0..<Self.everything.count {
            #expect(throws: AMQPError.self) { try MessagePropertyReader(Self.everything, 0..<length) }
        }
        let longer = Self.everything + [0]
        #expect(throws: AMQPError.self) { try MessagePropertyReader(longer, 0..<longer.count) }
        #expect(throws: AMQPError.self) { try MessagePropertyReader(Self.everything, 0..<(Self.everything.count + 1)) }
        #expect(throws: AMQPError.self) { try MessagePropertyReader([0, 1, 0, 0], 0..<4) }
    }

    @Test("a header table cut off within an entry is an error, never a trap")
    func survivesTableTruncation() throws {
        var ends: Set<Int> = [0]
        var reader = FieldTableReader(0..<SampleTable.table.count)
        var offset = 0
        while let field = try reader.next(in: SampleTable.table) {
            offset = try Self.end(after: field, from: offset)
            ends.insert(offset)
        }
        for length in 0..<SampleTable.table.count where !ends.contains(length) {
            #expect(throws: AMQPError.self) { try FieldTable(reading: 0..<length, in: SampleTable.table) }
        }
    }

    private static func end(after field: Field, from offset: Int) throws -> Int {
        for length in (offset + 1)...SampleTable.table.count {
            guard let read = try? FieldTable(reading: offset..<length, in: SampleTable.table) else { continue }
            if read.entries.count == 1 { return length }
        }
        throw AMQPError(.malformedTable, "the table of the test itself is wrong")
    }

    @Test("any byte changed to any value is read or refused, never a trap")
    func survivesDamage() {
        for position in Self.everything.indices {
            for value in UInt8.min...UInt8.max {
                var bytes = Self.everything
                bytes[position] = value
                guard let properties = try? MessagePropertyReader(bytes, 0..<bytes.count) else { continue }
                if let headers = properties.headers { _ = try? FieldTable(reading: headers, in: bytes) }
            }
        }
    }

    @Test("random bytes are read or refused, never a trap")
    func survivesNoise() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                // Every other byte is one that means something, so that the readers get further.
                Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random) : "StFAVI\u{0}\u{1}".utf8.randomElement() ?? 0
            }
            _ = try? MessagePropertyReader(bytes, 0..<bytes.count)
            _ = try? FieldTable(reading: 0..<bytes.count, in: bytes)
        }
    }

    @Test("eight levels of tables are read, nine are refused", arguments: [(8, true), (9, false), (15_000, false)])
    func limitsDepth(levels: Int, isRead: Bool) {
        // The outermost table holds the first of the nested ones, so that it makes one level more.
        let bytes = Wire.nestedTable(levels: levels - 1)
        let table = try? FieldTable(reading: 0..<bytes.count, in: bytes, maximumSize: 1 << 20)
        #expect((table != nil) == isRead)
    }

    @Test("arrays count as levels, too")
    func limitsDepthOfArrays() {
        var inner: [UInt8] = []
        for level in 1...9 {
            let bytes = Wire { $0.field("a", "A") { $0.long(inner) } }.bytes
            #expect(((try? FieldTable(reading: 0..<bytes.count, in: bytes)) != nil) == (level < 8), "\(level)")
            inner = [UInt8(ascii: "A")] + Wire { $0.long(inner) }.bytes
        }
    }

    @Test("a table over the size limit is refused before it is read")
    func limitsSize() {
        let bytes = Wire { $0.field("x", "x") { $0.long([UInt8](repeating: 1, count: 32768 - 7)) } }.bytes
        #expect(bytes.count == 32768)
        #expect((try? FieldTable(reading: 0..<bytes.count, in: bytes)) != nil)
        #expect(throws: AMQPError.self) { try FieldTable(reading: 0..<bytes.count, in: bytes, maximumSize: 32767) }
    }

    @Test("an unknown kind is refused")
    func refusesUnknownKind() {
        let bytes = Wire { $0.field("x", "q") }.bytes
        let error = #expect(throws: AMQPError.self) { try FieldTable(reading: 0..<bytes.count, in: bytes) }
        #expect(error?.code == .malformedTable)
        #expect(error?.message == "the header table holds a value of unknown kind 113")
    }
}
