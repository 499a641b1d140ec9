import Text

/// The rules for trace contexts: <https://www.w3.org/TR/trace-context/#traceparent-header>.
enum TraceContext {
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
}
