/// A JSON value that was validated and left where it stands. It stands in this module for the reason that
/// ``JSONScanner`` gives.
package struct JSONValue: Sendable, Equatable {
    /// The kinds of values.
    package enum Kind: UInt8, Sendable {
        /// The six kinds of RFC 8259, section 3.
        case object, array, string, number, boolean, null
    }

    /// What it is.
    package var kind: Kind
    /// For a string: it has escapes. For a number: it has a fraction or an exponent. For a Boolean: it is true.
    package var flag: Bool
    private var lower: UInt32
    private var upper: UInt32

    /// Where it stands; for a string without its quotation marks.
    package var range: Range<Int> { Int(lower)..<Int(upper) }

    /// A value from its parts.
    init(_ kind: Kind, _ range: Range<Int>, flag: Bool = false) {
        self.kind = kind
        self.flag = flag
        lower = UInt32(truncatingIfNeeded: range.lowerBound)
        upper = UInt32(truncatingIfNeeded: range.upperBound)
    }
}
