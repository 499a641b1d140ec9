import Text

/// Writes text into JSON strings.
enum JSONEscaping {
    /// Appends text with the escapes of RFC 8259, without the quotation marks.
    ///
    /// - Parameters:
    ///   - text: UTF-8 bytes.
    ///   - output: Receives them.
    static func append(_ text: some Sequence<UInt8>, to output: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case 0..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                HexText.append(byte, to: &output)
            default:
                output.append(byte)
            }
        }
    }
}
