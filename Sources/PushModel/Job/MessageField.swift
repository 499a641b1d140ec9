/// A field of a JSON body of the contract. Its name stands in one place, for the code that writes it and the code that
/// reads it.
package protocol MessageField: CodingKey, CaseIterable, Sendable {
    /// The name on the wire.
    var name: StaticString { get }
}

extension MessageField {
    /// The name on the wire, as decoders want it.
    package var stringValue: String { "\(name)" }
    /// The name on the wire, for texts.
    package var description: String { "\(name)" }
    /// Nil: fields have names, not numbers.
    package var intValue: Int? { nil }

    /// The field with a name; nil for a name that the body does not have.
    package init?(stringValue: String) {
        guard let field = Self.allCases.first(where: { $0.stringValue == stringValue }) else { return nil }
        self = field
    }

    /// Nil: fields have names, not numbers.
    package init?(intValue: Int) { nil }
}
