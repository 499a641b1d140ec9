/// Base64 in one of its two alphabets: [RFC 4648](https://www.rfc-editor.org/rfc/rfc4648#section-4), sections 4 and 5.
package struct Base64: Sendable {
    /// The usual alphabet, written with padding, as in HTTP's Basic authentication.
    package static let standard = Base64(
        alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", isPadded: true)
    /// The alphabet for URLs, written without padding, as in JSON Web Tokens.
    package static let url = Base64(
        alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", isPadded: false)

    private let alphabet: StaticString
    private let isPadded: Bool

    private init(alphabet: StaticString, isPadded: Bool) {
        self.alphabet = alphabet
        self.isPadded = isPadded
    }

    /// Appends the encoding of some bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - output: Receives ASCII text.
    package func append(_ bytes: [UInt8], to output: inout [UInt8]) {
        output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            var word = UInt32(bytes[index]) << 16
            if left > 1 { word |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { word |= UInt32(bytes[index + 2]) }
            // One byte needs two characters, two bytes need three.
            for place in 0..<4 where place <= left {
                output.append(alphabet.utf8Start[Int(word >> UInt32(18 - place * 6)) & 63])
            }
            if isPadded, left < 3 { output.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - left)) }
            index += 3
        }
    }

    /// Encodes some bytes as text.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: Their encoding.
    package func text(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        append(bytes, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes text. Padding may be there or not, because some programs write it in tokens.
    ///
    /// - Parameter text: ASCII bytes.
    /// - Returns: The bytes, or nil where a byte is outside the alphabet or the length is impossible.
    package func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
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

    private func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case alphabet.utf8Start[62]: 62
        case alphabet.utf8Start[63]: 63
        default: nil
        }
    }
}
