import Text

/// The trace that a job belongs to, and the step there that caused it.
///
/// [W3C Trace Context](https://www.w3.org/TR/trace-context/#traceparent-header)
package struct TraceContext: Equatable, Sendable {
    /// The longest `tracestate` that is passed to collectors, in bytes: what W3C asks everybody to carry.
    package static let longestState = 512

    /// The upper half of the trace's id.
    package let high: UInt64
    /// The lower half of the trace's id. One of the halves is not 0.
    package let low: UInt64
    /// The id of the step that published the job; never 0.
    package let parent: UInt64
    /// The flags of whoever published the job.
    package let flags: UInt8

    /// Reads a `traceparent` of any version.
    ///
    /// - Returns: Nil for text of another form, and for ids of zeros only.
    package init?(_ bytes: Span<UInt8>) {
        guard Self.isLegal(bytes) else { return nil }
        (high, low) = (Self.number(bytes, 3..<19), Self.number(bytes, 19..<35))
        parent = Self.number(bytes, 36..<52)
        flags = UInt8(Self.number(bytes, 53..<55))
        if high | low == 0 || parent == 0 { return nil }
    }

    /// Whether the trace is to be recorded.
    package var isSampled: Bool { flags & 1 == 1 }

    /// Whether the bytes have the form `<2 hex>-<32 hex>-<16 hex>-<2 hex>`, of any version and in any case.
    static func isLegal(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == 55 else { return false }
        for index in 0..<bytes.count {
            if index == 2 || index == 35 || index == 52 {
                guard bytes[index] == UInt8(ascii: "-") else { return false }
            } else if HexText.value(of: bytes[index]) == nil {
                return false
            }
        }
        return true
    }

    /// The number that hexadecimal digits mean, 16 at most.
    private static func number(_ bytes: Span<UInt8>, _ digits: Range<Int>) -> UInt64 {
        var number: UInt64 = 0
        for index in digits { number = number << 4 | UInt64(HexText.value(of: bytes[index]) ?? 0) }
        return number
    }
}
