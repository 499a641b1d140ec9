/// Layout of texts for a terminal.
extension String {
    /// The text followed by spaces up to a width.
    ///
    /// - Parameter width: In characters; longer texts stay as they are.
    func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }

    /// The text preceded by spaces up to a width.
    ///
    /// - Parameter width: In characters; longer texts stay as they are.
    func aligned(to width: Int) -> String {
        count >= width ? self : String(repeating: " ", count: width - count) + self
    }

    /// The text with characters that could command a terminal or fake a line made visible. Control characters become
    /// `\x1b`, line separators and changes of direction become `\u{202e}`.
    var printable: String {
        guard unicodeScalars.contains(where: Self.isHidden) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            guard Self.isHidden(scalar) else {
                text.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            text += scalar.value < 0x100 ? "\\x\(digits.count < 2 ? "0" : "")\(digits)" : "\\u{\(digits)}"
        }
        return text
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1f, 0x7f...0x9f, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
