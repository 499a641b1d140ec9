/// Whole numbers in header values.
///
/// The code is here and not in `Text`, because it reads the status of each answer, and the compiler specialises only
/// within a module.
enum DecimalText {
    /// Reads 1 to 18 decimal digits; nil for anything else.
    static func number(_ text: Span<UInt8>) -> Int64? {
        guard text.count > 0, text.count <= 18 else { return nil }
        var value: Int64 = 0
        for index in 0..<text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }
}
