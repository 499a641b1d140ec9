import Text

extension Span where Element == UInt8 {
    /// Whether these bytes are exactly the given constant text.
    @inline(__always)
    func matches(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count == length else { return false }
        return withUnsafeBufferPointer { mine in
            guard let mine = mine.baseAddress else { return length == 0 }
            return sameBytes(UnsafeRawPointer(mine), UnsafeRawPointer(text.utf8Start), count: length)
        }
    }

    /// Whether these bytes are exactly the given text.
    func matches(_ text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        var index = 0
        for byte in text.utf8 {
            guard self[index] == byte else { return false }
            index += 1
        }
        return true
    }

    /// Whether these bytes and the others are the same.
    func matches(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where self[index] != other[index] { return false }
        return true
    }

    /// The whole number that these ASCII digits spell, with an optional minus sign. Nil for other bytes, and for a
    /// number that does not fit.
    func wholeNumber() -> Int64? {
        var index = 0
        let isNegative = count > 1 && self[0] == UInt8(ascii: "-")
        if isNegative { index = 1 }
        guard index < count else { return nil }
        var value: Int64 = 0
        while index < count {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.subtractingReportingOverflow(Int64(digit))
            guard !overflowed, !carried else { return nil }
            value = sum
            index += 1
        }
        // The value is counted downwards, because `Int64.min` has no positive counterpart.
        if isNegative { return value }
        return value == Int64.min ? nil : -value
    }

    /// Whether the bytes are valid UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
    func isUTF8() -> Bool {
        var index = 0
        while index < count {
            if self[index] < 0x80 {
                index += 1
                continue
            }
            let length = utf8SequenceLength(at: index)
            guard length > 0 else { return false }
            index += length
        }
        return true
    }

    /// The length of the well-formed multi-byte UTF-8 sequence that starts here; 0 if none does.
    ///
    /// - Parameter index: Where a byte of 0x80 or more stands.
    func utf8SequenceLength(at index: Int) -> Int {
        let lead = self[index]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return 0
        }
        guard index + length <= count, second.contains(self[index + 1]) else { return 0 }
        for offset in 2..<4 where offset < length && self[index + offset] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// Whether every byte is a hexadecimal digit.
    func isHexadecimal() -> Bool {
        for index in 0..<count where HexText.value(of: self[index]) == nil { return false }
        return true
    }
}

/// Whether two stretches of memory of one length are the same, compared in words of eight bytes.
@inline(__always)
private func sameBytes(_ one: UnsafeRawPointer, _ two: UnsafeRawPointer, count: Int) -> Bool {
    var offset = 0
    while offset + 8 <= count {
        let mine = one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        guard mine == two.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
        offset += 8
    }
    while offset < count {
        guard one.load(fromByteOffset: offset, as: UInt8.self) == two.load(fromByteOffset: offset, as: UInt8.self)
        else { return false }
        offset += 1
    }
    return true
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit.
    package var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension [UInt8] {
    /// Appends a constant text.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a whole number in decimal digits.
    mutating func append(decimal value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = count
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

    /// Appends a copy of some of the array's own bytes.
    ///
    /// - Returns: Where the copy stands.
    mutating func append(copyOf range: Range<Int>) -> Range<Int> {
        let start = count
        reserveCapacity(count + range.count)
        for index in range { append(self[index]) }
        return start..<count
    }
}
