import Text

/// A UUID: the `apns-id` of a push, in sixteen bytes.
package struct MessageID: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    package var high: UInt64

    /// The last eight bytes, big-endian.
    package var low: UInt64

    /// Makes an identifier from its halves.
    ///
    /// - Parameters:
    ///   - high: The first eight bytes, big-endian.
    ///   - low: The last eight bytes, big-endian.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the canonical form, 8-4-4-4-12 hexadecimal digits of either case.
    ///
    /// - Parameter text: ASCII bytes.
    package init?(parsing text: some Collection<UInt8>) {
        guard text.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let value = HexText.value(of: byte) else { return nil }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
            digits += 1
        }
        (high, low) = halves
    }

    /// Makes a random identifier (version 4, [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562)).
    ///
    /// - Parameter generator: Where the randomness comes from.
    /// - Returns: A new identifier.
    package static func random(using generator: inout some RandomNumberGenerator) -> MessageID {
        MessageID(
            high: generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
            low: generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Makes an identifier that nobody can foresee.
    ///
    /// - Returns: A new identifier.
    package static func random() -> MessageID {
        var system = SystemRandomNumberGenerator()
        return random(using: &system)
    }

    /// Appends the canonical lower-case text, 36 bytes.
    ///
    /// - Parameter output: Receives the bytes.
    package func append(to output: inout [UInt8]) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { output.append(UInt8(ascii: "-")) }
            let half = index < 8 ? high : low
            HexText.append(UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (index & 7))), to: &output)
        }
    }

    /// The canonical lower-case text.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
