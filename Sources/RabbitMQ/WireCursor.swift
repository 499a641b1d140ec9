/// A position in bytes a peer wrote, with an end that no read passes.
///
/// It holds no bytes itself: each read gets the buffer that the cursor was made for. Numbers are big-endian
/// (AMQP 0-9-1, 4.2.5).
struct WireCursor {
    /// Where the next read begins.
    var offset: Int
    /// Where the readable bytes end.
    let end: Int

    /// A cursor at the beginning of a range.
    ///
    /// - Parameters:
    ///   - range: The bytes that may be read.
    ///   - bytes: The buffer the range belongs to.
    /// - Throws: `malformedTable` if the range is not inside the buffer.
    init(_ range: Range<Int>, in bytes: borrowing [UInt8]) throws(AMQPError) {
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else {
            throw AMQPError(.malformedTable, "the table lies outside its buffer")
        }
        offset = range.lowerBound
        end = range.upperBound
    }

    /// Whether everything was read.
    var isAtEnd: Bool { offset == end }

    /// Takes the next `count` bytes.
    ///
    /// - Parameter count: How many; any value a peer can announce.
    /// - Returns: Where they are.
    /// - Throws: `malformedTable` if there are fewer.
    @inline(__always)
    mutating func take(_ count: Int) throws(AMQPError) -> Range<Int> {
        guard count <= end - offset else {
            throw AMQPError(.malformedTable, "a value ends \(count - (end - offset)) bytes beyond its table")
        }
        let start = offset
        offset += count
        return start..<offset
    }

    /// Takes one byte.
    ///
    /// - Parameter bytes: The buffer.
    /// - Returns: Its value.
    /// - Throws: `malformedTable` at the end.
    @inline(__always)
    mutating func byte(_ bytes: borrowing [UInt8]) throws(AMQPError) -> UInt8 {
        bytes[try take(1).lowerBound]
    }

    /// Takes an unsigned number of 2, 4 or 8 bytes.
    ///
    /// - Parameters:
    ///   - type: Its type.
    ///   - bytes: The buffer.
    /// - Returns: Its value.
    /// - Throws: `malformedTable` if there are fewer bytes.
    @inline(__always)
    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type, _ bytes: borrowing [UInt8]
    ) throws(AMQPError) -> Number {
        let start = try take(Number.bitWidth / 8).lowerBound
        return bytes.withUnsafeBytes { Number(bigEndian: $0.loadUnaligned(fromByteOffset: start, as: Number.self)) }
    }

    /// Takes a short string: one byte of length, then as many bytes.
    ///
    /// - Parameter bytes: The buffer.
    /// - Returns: Where its text is.
    /// - Throws: `malformedTable` if it is cut off.
    @inline(__always)
    mutating func shortString(_ bytes: borrowing [UInt8]) throws(AMQPError) -> Range<Int> {
        try take(Int(try byte(bytes)))
    }

    /// Takes a long string, table or array: four bytes of length, then as many bytes.
    ///
    /// - Parameter bytes: The buffer.
    /// - Returns: Where its content is.
    /// - Throws: `malformedTable` if it is cut off.
    @inline(__always)
    mutating func longString(_ bytes: borrowing [UInt8]) throws(AMQPError) -> Range<Int> {
        try take(Int(try number(UInt32.self, bytes)))
    }
}
