/// Reads DER (ITU-T X.690) value by value. For bytes that it cannot read it returns nil.
///
/// It knows only what certificate extensions need: tags of one byte and definite lengths. It does not descend into
/// values by itself, so that nesting costs no stack.
package struct DERReader {
    /// One value: its tag, and where its content lies in the bytes.
    package struct Element: Equatable {
        /// The identifier byte.
        package var tag: UInt8
        /// The content's place.
        package var content: Range<Int>
    }

    /// The tags used here (X.690, 8.1.2; universal class).
    package enum Tag {
        /// OCTET STRING.
        package static let octetString: UInt8 = 0x04
        /// UTF8String.
        package static let utf8String: UInt8 = 0x0C
        /// PrintableString.
        package static let printableString: UInt8 = 0x13
        /// IA5String.
        package static let ia5String: UInt8 = 0x16
        /// SEQUENCE and SEQUENCE OF.
        package static let sequence: UInt8 = 0x30
    }

    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// Reads all of the bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// Reads the content of a value found before.
    package init(_ bytes: [UInt8], within element: Element) {
        self.bytes = bytes
        position = element.content.lowerBound
        end = element.content.upperBound
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { position >= end }

    /// Takes the next value; nil when none follows or its length goes beyond the end.
    package mutating func next() -> Element? {
        guard end - position >= 2 else { return nil }
        let tag = bytes[position]
        // No extension that is read here has tags of several bytes.
        guard tag & 0x1F != 0x1F else { return nil }
        var cursor = position + 1
        let first = bytes[cursor]
        cursor += 1
        var length = Int(first)
        if first >= 0x80 {
            // 0x80 alone is the indefinite form, which DER forbids. No length here needs more than four bytes.
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), end - cursor >= count else { return nil }
            length = bytes[cursor..<(cursor + count)].reduce(0) { $0 << 8 | Int($1) }
            cursor += count
        }
        guard length <= end - cursor else { return nil }
        position = cursor + length
        return Element(tag: tag, content: cursor..<position)
    }

    /// The text of a string value; nil for other tags, bytes that are not text, and control characters.
    func text(of element: Element) -> String? {
        switch element.tag {
        case Tag.utf8String, Tag.printableString, Tag.ia5String: break
        default: return nil
        }
        let content = bytes[element.content]
        guard content.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: content, as: UTF8.self)
    }
}
