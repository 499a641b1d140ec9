/// Base64 for URLs, as JSON Web Tokens use it: [RFC 4648 section 5](https://www.rfc-editor.org/rfc/rfc4648#section-5).
package enum Base64URL {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Appends the encoding of some bytes, without padding.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - output: Receives ASCII text.
    package static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
        output.reserveCapacity(output.count + (bytes.count * 4 + 2) / 3)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            var word = UInt32(bytes[index]) << 16
            if left > 1 { word |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { word |= UInt32(bytes[index + 2]) }
            // One byte needs two characters, two bytes need three.
            for place in 0..<min(4, left + 1) {
                output.append(alphabet.utf8Start[Int(word >> UInt32(18 - place * 6)) & 63])
            }
            index += 3
        }
    }

    /// Decodes text; padding is tolerated, as some token makers leave it in.
    ///
    /// - Parameter text: ASCII bytes.
    /// - Returns: The bytes, or nil where a byte is outside the alphabet or the length is impossible.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var gathered: UInt32 = 0
        var bits = 0
        var end = text.endIndex
        while end > text.startIndex, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        for byte in text[..<end] {
            guard let value = value(of: byte) else { return nil }
            gathered = gathered << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: gathered >> UInt32(bits)))
            }
        }
        return bits == 6 ? nil : bytes
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
