/// What is wrong with JSON text, and where.
package struct JSONError: Error, Sendable, Equatable {
    /// The kinds of mistakes.
    package enum Kind: Sendable, Equatable {
        /// The text ends within a value.
        case unexpectedEnd
        /// A byte that the grammar does not allow here.
        case unexpectedByte
        /// An escape that does not exist.
        case badEscape
        /// A number with a leading zero, or without digits where some must be.
        case badNumber
        /// A control character within a string.
        case controlCharacter
        /// A string that is not UTF-8.
        case invalidUTF8
        /// More levels than `JSONScanner.maximumDepth`.
        case tooDeep
        /// Something after the value.
        case trailingBytes
    }

    /// What is wrong.
    package var kind: Kind
    /// Where, in bytes from the beginning of the text.
    package var offset: Int

    /// A sentence a person can act on; it quotes nothing of the text.
    package var detail: String {
        let what =
            switch kind {
            case .unexpectedEnd: "the JSON text ends too early"
            case .unexpectedByte: "the JSON text has a character that does not belong there"
            case .badEscape: "the JSON text has an escape that does not exist"
            case .badNumber: "the JSON text has a malformed number"
            case .controlCharacter: "the JSON text has an unescaped control character in a string"
            case .invalidUTF8: "the JSON text is not valid UTF-8"
            case .tooDeep: "the JSON text is nested deeper than \(JSONScanner.maximumDepth) levels"
            case .trailingBytes: "something follows the end of the JSON text"
            }
        return what + " (at byte \(offset))"
    }
}
