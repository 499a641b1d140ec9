/// Percent-encoding: [RFC 3986 section 2](https://www.rfc-editor.org/rfc/rfc3986#section-2).
package enum PercentText {
    private static let digits = Array("0123456789ABCDEF".unicodeScalars)

    /// Writes all bytes but the unreserved ones of section 2.3 as `%XX`.
    ///
    /// - Parameter text: The text to write.
    /// - Returns: The text with escapes.
    package static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded.unicodeScalars.append("%")
                encoded.unicodeScalars.append(digits[Int(byte >> 4)])
                encoded.unicodeScalars.append(digits[Int(byte & 15)])
            }
        }
        return encoded
    }

    /// Undoes the encoding; bytes without an escape stay as they are.
    ///
    /// - Parameter text: The encoded bytes.
    /// - Returns: The bytes, or nil if a `%` is not followed by two hexadecimal digits.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(HexText.value), let low = rest.popFirst().flatMap(HexText.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
