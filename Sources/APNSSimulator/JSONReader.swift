import Text

/// Reads JSON text byte by byte without building a tree: enough to judge a payload and to read a provider token.
///
/// It is not the reader of the worker: a simulator with the same reader would make the same mistakes.
///
/// Obeys [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). Never recurses deeper than ``maximumDepth`` and never
/// traps.
struct JSONReader {
    /// How deep arrays and objects may nest; a peer chooses the nesting, so it has a limit.
    static let maximumDepth = 128

    /// The value of an object's member, as far as the simulator needs it.
    enum Scalar: Equatable {
        /// The bytes between the quotation marks, escapes left as written.
        case string([UInt8])
        /// The bytes of a number as written.
        case number([UInt8])
        /// A literal, an array or an object.
        case other
    }

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Tells whether text is exactly one valid JSON object in valid UTF-8.
    ///
    /// - Parameter bytes: The text.
    /// - Returns: Whether it is an object.
    static func isObject(_ bytes: [UInt8]) -> Bool {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { return false }
        var reader = JSONReader(bytes)
        reader.skipSpace()
        guard reader.peek == UInt8(ascii: "{"), reader.skipValue(depth: 0) else { return false }
        reader.skipSpace()
        return reader.position == bytes.count
    }

    /// Reads the members of an object. Arrays and objects in it are checked, but given as ``Scalar/other`` only.
    ///
    /// - Parameter bytes: The text.
    /// - Returns: Names and values in order, or nil where the text is not one valid object.
    static func members(of bytes: [UInt8]) -> [(name: [UInt8], value: Scalar)]? {
        guard isObject(bytes) else { return nil }
        var reader = JSONReader(bytes)
        var members: [(name: [UInt8], value: Scalar)] = []
        reader.skipSpace()
        reader.position += 1
        reader.skipSpace()
        while reader.peek == UInt8(ascii: "\"") {
            let name = reader.string()
            reader.skipSpace()
            reader.position += 1
            reader.skipSpace()
            members.append((name, reader.scalar()))
            reader.skipSpace()
            if reader.peek == UInt8(ascii: ",") { reader.position += 1 }
            reader.skipSpace()
        }
        return members
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func string() -> [UInt8] {
        let start = position + 1
        guard skipString() else { return [] }
        return Array(bytes[start..<(position - 1)])
    }

    private mutating func scalar() -> Scalar {
        let start = position
        switch peek {
        case UInt8(ascii: "\""):
            return .string(string())
        case .some(UInt8(ascii: "0")...UInt8(ascii: "9")), UInt8(ascii: "-"):
            guard skipNumber() else { return .other }
            return .number(Array(bytes[start..<position]))
        default:
            _ = skipValue(depth: 1)
            return .other
        }
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipValue(depth: Int) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        switch peek {
        case UInt8(ascii: "{"): return skipContainer(closing: UInt8(ascii: "}"), named: true, depth: depth)
        case UInt8(ascii: "["): return skipContainer(closing: UInt8(ascii: "]"), named: false, depth: depth)
        case UInt8(ascii: "\""): return skipString()
        case UInt8(ascii: "t"): return skipWord("true")
        case UInt8(ascii: "f"): return skipWord("false")
        case UInt8(ascii: "n"): return skipWord("null")
        default: return skipNumber()
        }
    }

    private mutating func skipContainer(closing: UInt8, named: Bool, depth: Int) -> Bool {
        position += 1
        skipSpace()
        if skip(closing) { return true }
        while true {
            if named {
                guard skipString() else { return false }
                skipSpace()
                guard skip(UInt8(ascii: ":")) else { return false }
                skipSpace()
            }
            guard skipValue(depth: depth + 1) else { return false }
            skipSpace()
            if skip(closing) { return true }
            guard skip(UInt8(ascii: ",")) else { return false }
            skipSpace()
        }
    }

    private mutating func skipWord(_ word: StaticString) -> Bool {
        for offset in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, bytes[position] == word.utf8Start[offset] else { return false }
            position += 1
        }
        return true
    }

    private mutating func skipString() -> Bool {
        guard skip(UInt8(ascii: "\"")) else { return false }
        while let byte = peek {
            position += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            if byte == UInt8(ascii: "\\"), !skipEscape() { return false }
        }
        return false
    }

    private mutating func skipEscape() -> Bool {
        guard let kind = peek else { return false }
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard let digit = peek, HexText.value(of: digit) != nil else { return false }
                position += 1
            }
            return true
        default:
            return false
        }
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        return position > start
    }

    private mutating func skipNumber() -> Bool {
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")), !skipDigits() { return false }
        if skip(UInt8(ascii: ".")), !skipDigits() { return false }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            return skipDigits()
        }
        return true
    }
}
