import Text

/// Writes bytes into free memory that was reserved beforehand. Writing beyond its end traps.
struct ByteWriter {
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    /// Bytes written so far.
    private(set) var count = 0

    /// A writer that starts at the beginning of some memory. The memory must outlive the writer.
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        // Memory of no bytes may have no address. The stand-in is never written to, because its capacity is 0.
        base = memory.baseAddress ?? UnsafeMutablePointer(bitPattern: 1).unsafelyUnwrapped
        capacity = memory.count
    }

    /// The most bytes a string may take: six for each of its bytes, and two quotation marks.
    static func room(forString length: Int) -> Int { length * 6 + 2 }

    /// Takes the place for some more bytes.
    @inline(__always)
    private mutating func reserve(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(length <= capacity - count, "a writer ran over the room reserved for it")
        let place = base + count
        count += length
        return place
    }

    /// Writes one byte.
    @inline(__always)
    mutating func write(byte: UInt8) {
        reserve(1).pointee = byte
    }

    /// Writes constant text as it is.
    @inline(__always)
    mutating func write(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length).update(from: text.utf8Start, count: length)
    }

    /// Writes bytes as they are.
    @inline(__always)
    mutating func write(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { source in
            guard let address = source.baseAddress else { return }
            reserve(source.count).update(from: address, count: source.count)
        }
    }

    /// Writes a number in decimal digits.
    mutating func write(decimal value: Int64) {
        if value < 0 { write(byte: UInt8(ascii: "-")) }
        var rest = value.magnitude
        var length = 1
        var limit: UInt64 = 10
        while rest >= limit {
            length += 1
            let (next, overflowed) = limit.multipliedReportingOverflow(by: 10)
            if overflowed { break }
            limit = next
        }
        let place = reserve(length)
        for index in stride(from: length - 1, through: 0, by: -1) {
            place[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Writes a UUID in lower case, without quotation marks.
    mutating func write(_ uuid: UUIDBytes) {
        let place = reserve(36)
        var target = 0
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                place[target] = UInt8(ascii: "-")
                target += 1
            }
            place[target] = HexText.digit(uuid.nibble(index))
            target += 1
        }
    }

    /// Writes text as a JSON string with its quotation marks. Each byte that is not UTF-8 becomes U+FFFD.
    ///
    /// `JSONEscaping` of Text writes the same for text that is UTF-8. A result is written for every notification, so
    /// this checks eight bytes at a time and writes into memory that is reserved already.
    mutating func write(string text: Span<UInt8>) {
        write(byte: UInt8(ascii: "\""))
        var cursor = 0
        while cursor < text.count {
            let plain = JSONText.endOfPlainText(in: text, from: cursor, to: text.count)
            if plain > cursor { write(text.extracting(cursor..<plain)) }
            cursor = plain
            guard cursor < text.count else { break }
            if text[cursor] < 0x80 {
                write(escapeOf: text[cursor])
                cursor += 1
            } else {
                let length = text.utf8SequenceLength(at: cursor)
                if length > 0 { write(text.extracting(cursor..<(cursor + length))) } else { write("\u{FFFD}") }
                cursor += max(1, length)
            }
        }
        write(byte: UInt8(ascii: "\""))
    }

    private mutating func write(escapeOf byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): write("\\\"")
        case UInt8(ascii: "\\"): write("\\\\")
        case 0x0A: write("\\n")
        case 0x0D: write("\\r")
        case 0x09: write("\\t")
        default:
            write("\\u00")
            write(byte: HexText.digit(byte >> 4))
            write(byte: HexText.digit(byte & 15))
        }
    }
}
