/// Writes text into JSON strings: [RFC 8259 section 7](https://www.rfc-editor.org/rfc/rfc8259#section-7).
///
/// For text that is known to be UTF-8, and not on the way of a job. On that way `ByteWriter` of PushModel does the
/// same.
package enum JSONEscaping {
    /// Appends text with its escapes, without the quotation marks.
    ///
    /// - Parameters:
    ///   - text: UTF-8 bytes.
    ///   - output: Receives them.
    package static func append(_ text: some Sequence<UInt8>, to output: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case UInt8(ascii: "\n"): output.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): output.append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): output.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                HexText.append(byte, to: &output)
            default:
                output.append(byte)
            }
        }
    }

    /// Appends a JSON string with its quotation marks.
    ///
    /// - Parameters:
    ///   - text: The content of the string.
    ///   - output: Receives it.
    package static func append(quoted text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        append(text.utf8, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// A JSON string with its quotation marks.
    ///
    /// - Parameter text: The content of the string.
    package static func quoted(_ text: String) -> String {
        var output: [UInt8] = []
        append(quoted: text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}
