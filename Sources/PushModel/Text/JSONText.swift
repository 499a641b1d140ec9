import Text

/// Reads the text of JSON strings and their escapes. It stands in this module for the reason that ``JSONScanner``
/// gives.
package enum JSONText {
    /// Appends the text of a string, with each escape replaced by its character.
    ///
    /// - Parameters:
    ///   - range: A string within `buffer` that a scanner has validated, without its quotation marks.
    ///   - buffer: Grows by the text.
    /// - Returns: Where the text stands. Nil if the string has a lone surrogate, which is no text; the buffer is then
    ///   unchanged.
    package static func unescape(_ range: Range<Int>, in buffer: inout [UInt8]) -> Range<Int>? {
        let start = buffer.count
        buffer.reserveCapacity(start + range.count)
        var cursor = range.lowerBound
        while cursor < range.upperBound {
            let byte = buffer[cursor]
            guard byte == UInt8(ascii: "\\") else {
                buffer.append(byte)
                cursor += 1
                continue
            }
            let escape = buffer[cursor + 1]
            cursor += 2
            switch escape {
            case UInt8(ascii: "b"): buffer.append(0x08)
            case UInt8(ascii: "f"): buffer.append(0x0C)
            case UInt8(ascii: "n"): buffer.append(0x0A)
            case UInt8(ascii: "r"): buffer.append(0x0D)
            case UInt8(ascii: "t"): buffer.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = codePoint(at: &cursor, until: range.upperBound, in: buffer) else {
                    buffer.removeSubrange(start...)
                    return nil
                }
                buffer.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            default: buffer.append(escape)
            }
        }
        return start..<buffer.count
    }

    /// The character of a `\u` escape, and of the second half of a surrogate pair where one follows.
    ///
    /// - Parameters:
    ///   - cursor: Stands after the `u`. It moves past the digits, and past the second half of a pair.
    ///   - end: Where the string ends.
    ///   - bytes: The buffer.
    private static func codePoint(at cursor: inout Int, until end: Int, in bytes: [UInt8]) -> Unicode.Scalar? {
        let first = fourDigits(in: bytes, at: cursor)
        cursor += 4
        guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) }
        guard cursor + 6 <= end, bytes[cursor] == UInt8(ascii: "\\"), bytes[cursor + 1] == UInt8(ascii: "u") else {
            return nil
        }
        let second = fourDigits(in: bytes, at: cursor + 2)
        guard second & 0xFC00 == 0xDC00 else { return nil }
        cursor += 6
        return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + (second & 0x3FF))
    }

    private static func fourDigits(in bytes: [UInt8], at position: Int) -> UInt32 {
        var value: UInt32 = 0
        for offset in 0..<4 { value = value << 4 | UInt32(HexText.value(of: bytes[position + offset]) ?? 0) }
        return value
    }

    /// The first position at or after `start` whose byte is not plain text; `end` if all are plain. Not plain are a
    /// quotation mark, a backslash, a control character, and each byte of a multi-byte character.
    @inline(__always)
    static func endOfPlainText(in bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var cursor = start
        let raw = bytes.bytes
        while cursor + 8 <= end {
            let word = UInt64(littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: cursor, as: UInt64.self))
            let marks = specialBytes(in: word)
            if marks != 0 { return cursor + marks.trailingZeroBitCount >> 3 }
            cursor += 8
        }
        while cursor < end, isPlain(bytes[cursor]) { cursor += 1 }
        return cursor
    }

    /// Whether a byte stands for itself in a JSON string and is a whole character.
    @inline(__always)
    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// A word with a mark, the high bit, in each byte that is not plain. The lowest mark is exact. Marks above it may
    /// be false.
    @inline(__always)
    static func specialBytes(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let controls = (word &- ones &* 0x20) & ~word
        return ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | controls | word) & high
    }
}
