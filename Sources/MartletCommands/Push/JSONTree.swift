/// JSON as a tree, for looking at a small document from all sides.
enum JSONTree: Decodable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// Any number.
    case number(Double)
    /// A string.
    case text(String)
    /// An array.
    case array([JSONTree])
    /// An object.
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }

    /// The members of an object; nil for anything else.
    var members: [String: JSONTree]? {
        if case .object(let members) = self { return members }
        return nil
    }

    /// The text of a string; nil for anything else.
    var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// The value of a number; nil for anything else.
    var number: Double? {
        if case .number(let number) = self { return number }
        return nil
    }
}
