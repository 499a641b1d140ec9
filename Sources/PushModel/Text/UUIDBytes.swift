import Text

/// A UUID as two words, so that it is compared, hashed and written without allocation.
///
/// RFC 9562: <https://www.rfc-editor.org/rfc/rfc9562>
package struct UUIDBytes: Hashable, Sendable {
    /// The first eight bytes, most significant first.
    package var high: UInt64
    /// The last eight bytes, most significant first.
    package var low: UInt64

    /// A UUID from its two halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The namespace of all names of Martlet (`Results.md`, "The same result twice"):
    /// 268fde28-cb90-48d3-9071-c4bed60c6d28.
    package static let contractNamespace = UUIDBytes(high: 0x268f_de28_cb90_48d3, low: 0x9071_c4be_d60c_6d28)

    /// Reads the canonical text (8-4-4-4-12 hexadecimal digits, either case); nil for anything else.
    package static func parse(_ text: Span<UInt8>) -> UUIDBytes? {
        guard text.count == 36 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<36 {
            let byte = text[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = HexText.value(of: byte) else { return nil }
            if index < 18 {
                high = high << 4 | UInt64(digit)
            } else {
                low = low << 4 | UInt64(digit)
            }
        }
        return UUIDBytes(high: high, low: low)
    }

    /// The UUID that names something within a namespace (version 5, RFC 9562 section 5.5).
    package static func v5(namespace: UUIDBytes, name: Span<UInt8>) -> UUIDBytes {
        var hash = SHA1()
        hash.update(namespace)
        hash.update(name)
        return UUIDBytes(v5: hash)
    }

    /// A version-5 UUID from a hash that has taken in the namespace and the name.
    package init(v5 hash: consuming SHA1) {
        let digest = hash.finish()
        high = (UInt64(digest.0) << 32 | UInt64(digest.1)) & 0xFFFF_FFFF_FFFF_0FFF | 0x5000
        low = (UInt64(digest.2) << 32 | UInt64(digest.3)) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// A UUID that sorts by time (version 7, RFC 9562 section 5.7).
    /// - Parameters:
    ///   - milliseconds: The time since 1970.
    ///   - random: 128 random bits, of which 74 are used.
    package static func v7(milliseconds: Int64, random: (UInt64, UInt64)) -> UUIDBytes {
        let time = UInt64(bitPattern: milliseconds) & 0xFFFF_FFFF_FFFF
        return UUIDBytes(
            high: time << 16 | 0x7000 | random.0 & 0x0FFF,
            low: random.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Appends the canonical text in lower case, 36 bytes.
    package func append(to buffer: inout [UInt8]) {
        buffer.append(addingCapacity: 36) { output in
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 { output.append(UInt8(ascii: "-")) }
                output.append(HexText.digit(nibble(index)))
            }
        }
    }

    /// The hexadecimal digit at a place from 0 to 31, as a value.
    @inline(__always)
    func nibble(_ index: Int) -> UInt8 {
        let word = index < 16 ? high : low
        return UInt8(truncatingIfNeeded: word >> UInt64(60 - (index & 15) * 4)) & 15
    }
}
