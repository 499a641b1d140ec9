/// The base64 alphabet of JSON Web Tokens, [RFC 4648 section 5](https://www.rfc-editor.org/rfc/rfc4648#section-5).
enum Base64URL {
    /// Decodes text; padding is tolerated, as some token makers leave it in.
    ///
    /// - Parameter text: ASCII bytes.
    /// - Returns: The bytes, or nil where a byte is outside the alphabet or the length is impossible.
    static func decode(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var gathered: UInt32 = 0
        var bits = 0
        var end = text.endIndex
        while end > text.startIndex, text[text.index(end, offsetBy: -1)] == UInt8(ascii: "=") {
            end = text.index(end, offsetBy: -1)
        }
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

    /// Encodes bytes without padding.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: ASCII text.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        var gathered: UInt32 = 0
        var bits = 0
        for byte in bytes {
            gathered = gathered << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(gathered >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(gathered << UInt32(6 - bits) & 63)]) }
        return text
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
