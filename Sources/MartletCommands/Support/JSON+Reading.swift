import PushModel

/// Reading of JSON text that keeps the order of names.
extension JSON {
    /// Reads one value, and ignores the text after it.
    ///
    /// - Parameter bytes: JSON text, of less than 4 GiB.
    /// - Throws: `JSONError` where the text breaks the grammar.
    init(reading bytes: [UInt8]) throws(JSONError) {
        var scanner = JSONScanner(bytes.indices)
        self = try Self.read(&scanner, bytes)
    }

    /// The text of an object's last member with a name, without building the other values, of which a body may have very
    /// many; nil where the text breaks the grammar, or the member is not a string.
    ///
    /// - Parameters:
    ///   - name: The member's name.
    ///   - bytes: JSON text, of less than 4 GiB.
    static func lastText(of name: String, in bytes: [UInt8]) -> String? {
        var scanner = JSONScanner(bytes.indices)
        var text: String?
        do throws(JSONError) {
            guard try scanner.enterObject(in: bytes.span) else { return nil }
            while let member = try scanner.nextName(in: bytes.span) {
                let value = try scanner.value(in: bytes.span)
                guard string(member, bytes) == name else { continue }
                text = value.kind == .string ? string(value, bytes) : nil
            }
        } catch {
            return nil
        }
        return text
    }

    /// The members of an object, in the order of the text; empty for anything else.
    var members: [(String, JSON)] {
        if case .object(let members) = self { return members }
        return []
    }

    /// The members of an object by name; of a repeated name the last member. Nil for anything else.
    var dictionary: [String: JSON]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(members) { _, last in last }
    }

    /// The value of any number; nil for anything else.
    var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// The elements of an array; empty for anything else.
    var elements: [JSON] {
        if case .array(let elements) = self { return elements }
        return []
    }

    /// The text of a string; nil for anything else.
    var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// The value of a whole number; nil for anything else.
    var integer: Int64? {
        if case .integer(let integer) = self { return integer }
        return nil
    }

    /// The first member of an object with this name; nil without one, and for anything else.
    subscript(name: String) -> JSON? { members.first { $0.0 == name }?.1 }

    /// Reads the next value. The scanner bounds how deep values are nested, and with it this recursion.
    private static func read(_ scanner: inout JSONScanner, _ bytes: [UInt8]) throws(JSONError) -> JSON {
        if try scanner.enterObject(in: bytes.span) {
            var members: [(String, JSON)] = []
            while let name = try scanner.nextName(in: bytes.span) {
                members.append((string(name, bytes), try read(&scanner, bytes)))
            }
            return .object(members)
        }
        if try scanner.enterArray(in: bytes.span) {
            var elements: [JSON] = []
            while try scanner.hasElement(in: bytes.span) { elements.append(try read(&scanner, bytes)) }
            return .array(elements)
        }
        let value = try scanner.value(in: bytes.span)
        let written = String(decoding: bytes[value.range], as: UTF8.self)
        return switch value.kind {
        case .string: .text(string(value, bytes))
        case .boolean: .boolean(value.flag)
        case .number: Int64(written).map { .integer($0) } ?? .number(Double(written) ?? .nan)
        case .null, .object, .array: .null
        }
    }

    /// The text of a string. A text with half a surrogate pair stays as it is written.
    private static func string(_ value: JSONValue, _ bytes: [UInt8]) -> String {
        guard value.flag else { return String(decoding: bytes[value.range], as: UTF8.self) }
        var copy = Array(bytes[value.range])
        let range = JSONText.unescape(copy.indices, in: &copy) ?? copy.indices
        return String(decoding: copy[range], as: UTF8.self)
    }
}
