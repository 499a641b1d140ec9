import Text

/// Keeps secrets out of logs and messages.
///
/// Log calls must not be given secrets. ``scrub(_:)`` catches those that they are given by mistake.
package enum Redaction {
    /// The text in place of a secret.
    package static let mark = "***"

    /// A short name for a device token. One token always has the same name. The name is of no use for sending.
    package static func name(ofToken token: Span<UInt8>) -> String {
        // A token has 256 random bits, so nobody can guess it from a hash of 32 bits.
        let hash = StableHash.of(token)
        let digits = String(UInt32(truncatingIfNeeded: hash ^ hash >> 32), radix: 16)
        return "token#\(String(repeating: "0", count: 8 - digits.count))\(digits)"
    }

    /// The text without secrets: user and password in an address, a long run of hexadecimal digits (a device token), a
    /// bearer token, and everything from the beginning of a PEM block on.
    package static func scrub(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard isSuspicious(bytes) else { return text }
        var scrubbed: [UInt8] = []
        scrubbed.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let end = secretEnd(bytes, index) {
                scrubbed += Array(mark.utf8)
                index = end
            } else {
                let copied = copyLength(bytes, index)
                scrubbed += bytes[index..<index + copied]
                index += copied
            }
        }
        return String(decoding: scrubbed, as: UTF8.self)
    }

    /// The length from which a run of hexadecimal digits counts as a device token; a UUID has 32.
    private static let tokenLength = 48

    private static func isSuspicious(_ bytes: [UInt8]) -> Bool {
        bytes.count >= tokenLength || bytes.contains(UInt8(ascii: "@")) || bytes.contains(UInt8(ascii: "-"))
            || has(bytes, "earer ", anywhere: true)
    }

    /// The end of the secret that begins at an index; nil if none begins there.
    private static func secretEnd(_ bytes: [UInt8], _ index: Int) -> Int? {
        let hex = run(bytes, index, isHex)
        // A run counts only from its first digit on; copyLength never stops inside one.
        if hex - index >= tokenLength { return hex }
        if has(bytes, "-----BEGIN ", at: index) { return bytes.count }
        if index >= 7, has(bytes, "earer ", at: index - 6) {
            let end = run(bytes, index) { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ",") }
            return end > index ? end : nil
        }
        if index >= 3, has(bytes, "://", at: index - 3) {
            let end = run(bytes, index) { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\"") }
            // If nothing stands before the @, there is no secret, and the caller has to go on.
            guard let at = bytes[index..<end].lastIndex(of: UInt8(ascii: "@")), at > index else { return nil }
            return at
        }
        return nil
    }

    private static func copyLength(_ bytes: [UInt8], _ index: Int) -> Int {
        max(1, run(bytes, index, isHex) - index)
    }

    private static func run(_ bytes: [UInt8], _ start: Int, _ belongs: (UInt8) -> Bool) -> Int {
        var end = start
        while end < bytes.count, belongs(bytes[end]) { end += 1 }
        return end
    }

    private static func has(_ bytes: [UInt8], _ word: StaticString, at index: Int) -> Bool {
        guard index >= 0, index + word.utf8CodeUnitCount <= bytes.count else { return false }
        return word.withUTF8Buffer { word in
            for offset in 0..<word.count where bytes[index + offset] != word[offset] { return false }
            return true
        }
    }

    private static func has(_ bytes: [UInt8], _ word: StaticString, anywhere: Bool) -> Bool {
        for index in bytes.indices where bytes[index] == word.utf8Start.pointee {
            if has(bytes, word, at: index) { return true }
        }
        return false
    }

    private static func isHex(_ byte: UInt8) -> Bool { HexText.value(of: byte) != nil }
}
