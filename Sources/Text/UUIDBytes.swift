/// A UUID as two words, so that it is compared, hashed and written without allocation.
///
/// RFC 9562: <https://www.rfc-editor.org/rfc/rfc9562>
@usableFromInline
package struct UUIDBytes: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes, most significant first.
    @usableFromInline package var high: UInt64
    /// The last eight bytes, most significant first.
    @usableFromInline package var low: UInt64

    /// A UUID from its two halves.
    @inlinable
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

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

    /// Reads the canonical text out of a string; nil for anything else.
    package static func parse(_ text: String) -> UUIDBytes? { parse(text.utf8.span) }

    /// Appends the canonical text in lower case, 36 bytes.
    package func append(to buffer: inout [UInt8]) {
        buffer.append(addingCapacity: 36) { output in
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 { output.append(UInt8(ascii: "-")) }
                output.append(HexText.digit(nibble(index)))
            }
        }
    }

    /// The canonical text in lower case.
    @usableFromInline package var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The hexadecimal digit at a place from 0 to 31, as a value.
    @inlinable @inline(__always)
    package func nibble(_ index: Int) -> UInt8 {
        let word = index < 16 ? high : low
        return UInt8(truncatingIfNeeded: word >> UInt64(60 - (index & 15) * 4)) & 15
    }
}
