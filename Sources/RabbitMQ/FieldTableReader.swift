/// Goes through a field table as it stands on the wire (AMQP 0-9-1, 4.2.5.5, with RabbitMQ's kinds:
/// <https://www.rabbitmq.com/amqp-0-9-1-errata#section_3>).
///
/// For any bytes it returns or throws. It never recurses deeper than `maximumDepth`.
package struct FieldTableReader: Sendable {
    /// The most bytes that a producer's headers may have.
    package static let maximumSize = 32_768
    /// The most bytes of headers after workers and brokers have added theirs: the attempt, where the message died, how
    /// often it came back.
    package static let maximumSizeOfCopies = maximumSize + 4_096
    /// More bytes than a broker's frame has room for: the limit of readers that must see all headers.
    package static let maximumSizeOfFrames = 1 << 20
    /// How many tables and arrays may be nested, the headers' own included.
    package static let maximumDepth = 8

    private let table: Range<Int>
    private let maximumDepth: Int
    private let maximumSize: Int
    private let isArray: Bool
    /// Where the next entry begins.
    package private(set) var offset: Int

    /// A reader of a table's content.
    ///
    /// - Parameters:
    ///   - table: Where the content stands, without the four bytes of length.
    ///   - maximumDepth: How many tables and arrays may be nested, this one included.
    ///   - maximumSize: How many bytes the content may have.
    package init(_ table: Range<Int>, maximumDepth: Int = maximumDepth, maximumSize: Int = maximumSize) {
        self.init(table, maximumDepth: maximumDepth, maximumSize: maximumSize, isArray: false)
    }

    /// A reader of an array's content, whose elements have no names.
    ///
    /// - Parameters:
    ///   - elements: Where the content stands, without the four bytes of length.
    ///   - maximumDepth: How many tables and arrays may be nested, this one included.
    ///   - maximumSize: How many bytes the content may have.
    package init(elements: Range<Int>, maximumDepth: Int = maximumDepth, maximumSize: Int = maximumSize) {
        self.init(elements, maximumDepth: maximumDepth, maximumSize: maximumSize, isArray: true)
    }

    private init(_ table: Range<Int>, maximumDepth: Int, maximumSize: Int, isArray: Bool) {
        self.table = table
        self.maximumDepth = maximumDepth
        self.maximumSize = maximumSize
        self.isArray = isArray
        offset = table.lowerBound
    }

    /// Reads the next entry; nested tables and arrays are checked as a whole before they are returned.
    ///
    /// - Parameter bytes: The buffer the table stands in.
    /// - Returns: Nil after the last entry.
    /// - Throws: `malformedTable` if the table is damaged, too deep or too large; do not go on reading then.
    package mutating func next(in bytes: borrowing [UInt8]) throws(AMQPError) -> Field? {
        guard table.count <= maximumSize else {
            throw Self.tooLarge(table.count, over: maximumSize)
        }
        guard maximumDepth > 0 else { throw Self.tooDeep }
        var cursor = try WireCursor(offset..<table.upperBound, in: bytes)
        if cursor.isAtEnd { return nil }
        let name = isArray ? offset..<offset : try cursor.shortString(bytes)
        let kind = try cursor.byte(bytes)
        let value = try Self.value(of: kind, &cursor, bytes, depthLeft: maximumDepth - 1)
        offset = cursor.offset
        return Field(name: name, kind: kind, value: value)
    }

    /// The error for a table that is too large.
    ///
    /// - Parameters:
    ///   - count: How many bytes its content has.
    ///   - limit: How many it may have.
    package static func tooLarge(_ count: Int, over limit: Int) -> AMQPError {
        AMQPError(.malformedTable, "the header table has \(count) bytes, over \(limit)")
    }

    private static var tooDeep: AMQPError { AMQPError(.malformedTable, "the header table is nested too deeply") }

    private static func value(
        of kind: UInt8, _ cursor: inout WireCursor, _ bytes: borrowing [UInt8], depthLeft: Int
    ) throws(AMQPError) -> FieldSlice {
        switch kind {
        case UInt8(ascii: "S"): return .text(try cursor.longString(bytes))
        case UInt8(ascii: "I"):
            return .integer(Int64(Int32(bitPattern: try cursor.number(UInt32.self, bytes))))
        case UInt8(ascii: "l"): return .integer(Int64(bitPattern: try cursor.number(UInt64.self, bytes)))
        case UInt8(ascii: "x"): return .bytes(try cursor.longString(bytes))
        case UInt8(ascii: "t"): return .boolean(try cursor.byte(bytes) != 0)
        case UInt8(ascii: "b"): return .integer(Int64(Int8(bitPattern: try cursor.byte(bytes))))
        case UInt8(ascii: "B"): return .integer(Int64(try cursor.byte(bytes)))
        case UInt8(ascii: "s"): return .integer(Int64(Int16(bitPattern: try cursor.number(UInt16.self, bytes))))
        case UInt8(ascii: "u"): return .integer(Int64(try cursor.number(UInt16.self, bytes)))
        case UInt8(ascii: "i"): return .integer(Int64(try cursor.number(UInt32.self, bytes)))
        case UInt8(ascii: "L"):
            let number = try cursor.number(UInt64.self, bytes)
            return Int64(exactly: number).map(FieldSlice.integer) ?? .unsigned(number)
        case UInt8(ascii: "f"): return .double(Double(Float(bitPattern: try cursor.number(UInt32.self, bytes))))
        case UInt8(ascii: "d"): return .double(Double(bitPattern: try cursor.number(UInt64.self, bytes)))
        case UInt8(ascii: "D"):
            return .decimal(scale: try cursor.byte(bytes), value: try cursor.number(UInt32.self, bytes))
        case UInt8(ascii: "T"): return .timestamp(try cursor.number(UInt64.self, bytes))
        case UInt8(ascii: "V"): return .void
        case UInt8(ascii: "F"), UInt8(ascii: "A"):
            let content = try cursor.longString(bytes)
            let isArray = kind == UInt8(ascii: "A")
            guard depthLeft > 0 else { throw tooDeep }
            var inner = try WireCursor(content, in: bytes)
            while !inner.isAtEnd {
                if !isArray { _ = try inner.shortString(bytes) }
                let kind = try inner.byte(bytes)
                _ = try value(of: kind, &inner, bytes, depthLeft: depthLeft - 1)
            }
            return isArray ? .array(content) : .table(content)
        default:
            throw AMQPError(.malformedTable, "the header table holds a value of unknown kind \(kind)")
        }
    }
}
