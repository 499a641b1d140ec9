/// Hexadecimal digits. Other modules inline the work for each digit.
@usableFromInline
package enum HexText {
    /// The value of a digit of either case.
    ///
    /// - Parameter digit: An ASCII byte.
    /// - Returns: 0 to 15, or nil if the byte is not a digit.
    @inlinable @inline(__always)
    package static func value(of digit: UInt8) -> UInt8? {
        let decimal = digit &- UInt8(ascii: "0")
        if decimal <= 9 { return decimal }
        let letter = (digit | 0x20) &- UInt8(ascii: "a")
        return letter <= 5 ? letter + 10 : nil
    }

    /// Tells whether all bytes are hexadecimal digits.
    ///
    /// - Parameter text: ASCII bytes.
    /// - Returns: False if there is any other byte among them.
    @inlinable
    package static func isHex(_ text: some Sequence<UInt8>) -> Bool {
        text.allSatisfy { value(of: $0) != nil }
    }

    /// Reads bytes, two digits of either case each.
    ///
    /// - Parameter digits: ASCII bytes.
    /// - Returns: The bytes, or nil if the number of digits is odd or a byte is not a digit.
    package static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
            guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Appends a byte as two lower-case digits.
    ///
    /// - Parameters:
    ///   - byte: The byte.
    ///   - output: Receives the digits.
    @inlinable
    package static func append(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(digit(byte >> 4))
        output.append(digit(byte & 15))
    }

    /// Bytes as lower-case digits.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: Two digits for each byte.
    package static func text(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes { append(byte, to: &digits) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// A number as 16 lower-case digits.
    ///
    /// - Parameter number: The number.
    /// - Returns: The digits, leading zeros included.
    package static func text(_ number: UInt64) -> String {
        text(withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }

    /// The lower-case digit of a value.
    ///
    /// - Parameter value: 0 to 15.
    /// - Returns: An ASCII byte.
    @inlinable @inline(__always)
    package static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value + (UInt8(ascii: "a") - 10)
    }
}
