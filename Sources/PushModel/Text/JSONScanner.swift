/// A validating reader of JSON text (RFC 8259) that keeps positions instead of building values.
///
/// It accepts exactly the grammar, in UTF-8. A value that is read whole may be nested `maximumDepth` levels deep. The
/// scanner never recurses. It does not look for names that are repeated in an object; the caller may.
///
/// It stands in this module and not in `Text`, because every enveloped job is read with it and the compiler inlines
/// only within a module.
package struct JSONScanner: Sendable {
    /// How many levels of objects and arrays a value may have that is read whole. Levels that the caller enters do not
    /// count. The scanner keeps one bit per level.
    package static let maximumDepth = 64

    /// The next byte to read.
    package private(set) var position: Int
    private let start: Int
    private let end: Int
    /// Whether the object or array just entered has given nothing yet.
    private var isFirst = false

    /// A scanner of the text in a part of a buffer of less than 4 GiB.
    package init(_ range: Range<Int>) {
        position = range.lowerBound
        start = range.lowerBound
        end = range.upperBound
    }

    /// Reads one value of any kind, whole.
    package mutating func value(in bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        switch try token(in: bytes) {
        case UInt8(ascii: "{"):
            let lower = position
            try skipContainer(in: bytes)
            return JSONValue(.object, lower..<position)
        case UInt8(ascii: "["):
            let lower = position
            try skipContainer(in: bytes)
            return JSONValue(.array, lower..<position)
        default:
            return try scalar(in: bytes)
        }
    }

    /// Steps into an object; false, with the position unchanged, when the next value is something else.
    package mutating func enterObject(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        try enter(UInt8(ascii: "{"), in: bytes)
    }

    /// Steps into an array; false, with the position unchanged, when the next value is something else.
    package mutating func enterArray(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        try enter(UInt8(ascii: "["), in: bytes)
    }

    /// The next name of the object entered; nil at its end. The name's value must be read before the next call.
    package mutating func nextName(in bytes: Span<UInt8>) throws(JSONError) -> JSONValue? {
        guard try advance(closing: UInt8(ascii: "}"), in: bytes) else { return nil }
        return try name(in: bytes)
    }

    /// Whether the array entered has another element, which must be read before the next call.
    package mutating func hasElement(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        try advance(closing: UInt8(ascii: "]"), in: bytes)
    }

    /// Checks that nothing but white space is left.
    package mutating func finish(in bytes: Span<UInt8>) throws(JSONError) {
        skipSpace(in: bytes)
        guard position == end else { throw error(.trailingBytes) }
    }

    private mutating func enter(_ opening: UInt8, in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard try token(in: bytes) == opening else { return false }
        position += 1
        isFirst = true
        return true
    }

    private mutating func advance(closing: UInt8, in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        let next = try token(in: bytes)
        let wasFirst = isFirst
        isFirst = false
        if next == closing {
            position += 1
            return false
        }
        guard !wasFirst else { return true }
        guard next == UInt8(ascii: ",") else { throw error(.unexpectedByte) }
        position += 1
        return true
    }

    /// A name and the colon after it.
    private mutating func name(in bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        guard try token(in: bytes) == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
        let name = try string(in: bytes)
        guard try token(in: bytes) == UInt8(ascii: ":") else { throw error(.unexpectedByte) }
        position += 1
        return name
    }

    /// Reads the object or array that begins here, without recursion.
    private mutating func skipContainer(in bytes: Span<UInt8>) throws(JSONError) {
        // One bit per open level, 1 = object, 0 = array. The lowest bit is the innermost level.
        var levels: UInt64 = 0
        var depth = 0
        repeat {
            let opening = try token(in: bytes)
            var isOpen = false
            if opening == UInt8(ascii: "{") || opening == UInt8(ascii: "[") {
                guard depth < Self.maximumDepth else { throw error(.tooDeep) }
                depth += 1
                levels = levels << 1 | (opening == UInt8(ascii: "{") ? 1 : 0)
                position += 1
                isOpen = true
            } else {
                _ = try scalar(in: bytes)
            }
            // A value is followed by the ends of levels, then by a comma and the next value.
            while depth > 0 {
                let next = try token(in: bytes)
                let isObject = levels & 1 == 1
                if next == UInt8(ascii: isObject ? "}" : "]") {
                    position += 1
                    levels >>= 1
                    depth -= 1
                    isOpen = false
                    continue
                }
                if !isOpen {
                    guard next == UInt8(ascii: ",") else { throw error(.unexpectedByte) }
                    position += 1
                }
                if isObject { _ = try name(in: bytes) }
                break
            }
        } while depth > 0
    }

    private mutating func scalar(in bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        switch bytes[position] {
        case UInt8(ascii: "\""): return try string(in: bytes)
        case UInt8(ascii: "t"): return try literal("true", .boolean, in: bytes, flag: true)
        case UInt8(ascii: "f"): return try literal("false", .boolean, in: bytes)
        case UInt8(ascii: "n"): return try literal("null", .null, in: bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(in: bytes)
        default: throw error(.unexpectedByte)
        }
    }

    private mutating func literal(
        _ text: StaticString, _ kind: JSONValue.Kind, in bytes: Span<UInt8>, flag: Bool = false
    ) throws(JSONError) -> JSONValue {
        let lower = position
        let upper = lower + text.utf8CodeUnitCount
        guard upper <= end else { throw JSONError(kind: .unexpectedEnd, offset: end - start) }
        guard bytes.extracting(lower..<upper).matches(text) else { throw error(.unexpectedByte) }
        position = upper
        return JSONValue(kind, lower..<upper, flag: flag)
    }

    private mutating func number(in bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        let lower = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let integer = position
        try digits(in: bytes)
        // RFC 8259 section 6: no leading zeros.
        guard bytes[integer] != UInt8(ascii: "0") || position == integer + 1 else {
            throw JSONError(kind: .badNumber, offset: integer - start)
        }
        var hasFraction = false
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            hasFraction = true
            try digits(in: bytes)
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            hasFraction = true
            if position < end, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits(in: bytes)
        }
        return JSONValue(.number, lower..<position, flag: hasFraction)
    }

    private mutating func digits(in bytes: Span<UInt8>) throws(JSONError) {
        let first = position
        while position < end, bytes[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
        if position == first { throw error(position < end ? .badNumber : .unexpectedEnd) }
    }

    /// The next byte that is not white space, left unread.
    @inline(__always)
    private mutating func token(in bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        skipSpace(in: bytes)
        guard position < end else { throw error(.unexpectedEnd) }
        return bytes[position]
    }

    @inline(__always)
    private mutating func skipSpace(in bytes: Span<UInt8>) {
        while position < end {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func error(_ kind: JSONError.Kind) -> JSONError { JSONError(kind: kind, offset: position - start) }
}

// MARK: - Strings
extension JSONScanner {
    /// Reads a string whose opening quotation mark is the next byte.
    private mutating func string(in bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        let lower = position + 1
        var cursor = lower
        var hasEscapes = false
        while true {
            cursor = JSONText.endOfPlainText(in: bytes, from: cursor, to: end)
            guard cursor < end else { throw JSONError(kind: .unexpectedEnd, offset: end - start) }
            switch bytes[cursor] {
            case UInt8(ascii: "\""):
                position = cursor + 1
                return JSONValue(.string, lower..<cursor, flag: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                cursor = try endOfEscape(in: bytes, at: cursor)
            case 0..<0x20:
                throw JSONError(kind: .controlCharacter, offset: cursor - start)
            default:
                let length = bytes.extracting(0..<end).utf8SequenceLength(at: cursor)
                guard length > 0 else { throw JSONError(kind: .invalidUTF8, offset: cursor - start) }
                cursor += length
            }
        }
    }

    /// Checks the escape that begins with the backslash here.
    ///
    /// - Returns: The position after it.
    private func endOfEscape(in bytes: Span<UInt8>, at backslash: Int) throws(JSONError) -> Int {
        guard backslash + 1 < end else { throw JSONError(kind: .unexpectedEnd, offset: end - start) }
        switch bytes[backslash + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return backslash + 2
        case UInt8(ascii: "u"):
            guard backslash + 6 <= end else { throw JSONError(kind: .unexpectedEnd, offset: end - start) }
            guard bytes.extracting((backslash + 2)..<(backslash + 6)).isHexadecimal() else { fallthrough }
            return backslash + 6
        default:
            throw JSONError(kind: .badEscape, offset: backslash - start)
        }
    }
}
