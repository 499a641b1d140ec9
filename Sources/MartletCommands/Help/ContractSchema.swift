/// The part of a JSON Schema of `config/contract` that the help topics need: the properties, and their values.
struct ContractSchema {
    /// The properties, in the order of the schema.
    let properties: [HelpEntry]

    /// Reads a schema that was built in.
    ///
    /// - Parameters:
    ///   - bytes: The schema's text. A text that is not a schema gives no properties.
    ///   - nullIsAbsence: Whether a property that is null counts as absent. Then null is not named as a value.
    init(_ bytes: [UInt8], nullIsAbsence: Bool = false) {
        let schema = (try? JSON(reading: bytes)) ?? .null
        let required = schema["required"]?.elements.compactMap(\.text) ?? []
        properties = (schema["properties"]?.members ?? []).map { name, property in
            var values = Self.values(property, definitions: schema["$defs"])
            if nullIsAbsence { values.removeAll { $0 == "null" } }
            // Where a schema requires no property, its descriptions say which ones may be absent.
            let presence = required.isEmpty || required.contains(name) ? "" : "; may be absent"
            return HelpEntry(
                name, Self.list(values) + presence, property["description"]?.text ?? "")
        }
    }

    /// The alternatives that a property may hold: types with their range, or the values themselves.
    private static func values(_ property: JSON, definitions: JSON?) -> [String] {
        if let name = property["$ref"]?.text?.split(separator: "/").last {
            guard let definition = definitions?[String(name)] else { return [] }
            // A title is a word that the topic explains.
            return definition["title"]?.text.map { [$0] } ?? values(definition, definitions: definitions)
        }
        if let alternatives = property["anyOf"]?.elements {
            return alternatives.flatMap { values($0, definitions: definitions) }
        }
        if let value = property["const"] { return [word(value)] }
        if let choices = property["enum"]?.elements {
            // A number may be written as text, too, which the schema's own description says.
            return choices.map(word).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }
        let types = property["type"].map { $0.text.map { [$0] } ?? $0.elements.compactMap(\.text) } ?? []
        return types.map { type(named: $0, property) }
    }

    /// A type with its limits. The length of strings is left to the descriptions, because Martlet's limits count bytes.
    private static func type(named name: String, _ property: JSON) -> String {
        switch name {
        case "integer":
            guard let low = property["minimum"]?.integer else { return "integer" }
            guard let high = property["maximum"]?.integer, high < .max else { return "integer from \(low)" }
            return "integer from \(low) to \(high)"
        case "string":
            switch property["format"]?.text {
            case "uuid": return "UUID"
            case "date-time": return "date and time"
            default: return "string"
            }
        case "array":
            guard let low = property["minItems"]?.integer, let high = property["maxItems"]?.integer else {
                return "array of strings"
            }
            return "array of \(low) to \(high) strings"
        default: return name
        }
    }

    /// A value as people write it.
    private static func word(_ value: JSON) -> String { value.text ?? value.description }

    /// `a`, `a or b`, `a, b or c`.
    private static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
