/// Hexadecimal digits.
enum HexText {
    /// The value of a digit of either case.
    ///
    /// - Parameter digit: An ASCII byte.
    /// - Returns: 0 to 15, or nil where the byte is no digit.
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The lower-case digit of a value.
    ///
    /// - Parameter value: 0 to 15.
    /// - Returns: An ASCII byte.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
    }

    /// Tells whether all bytes are hexadecimal digits.
    ///
    /// - Parameter text: ASCII bytes.
    /// - Returns: False where any other byte is among them.
    static func isHex(_ text: some Sequence<UInt8>) -> Bool {
        text.allSatisfy { value(of: $0) != nil }
    }
}
