/// The value of an AMQP header, as far as jobs need it. Ranges point into the message's buffer.
package enum HeaderValue: Sendable, Equatable {
    /// A text value.
    case text(Range<Int>)
    /// A value of raw bytes.
    case bytes(Range<Int>)
    /// A whole number of any width.
    case integer(Int64)
    /// A time in seconds since 1970, as AMQP has it.
    case timestamp(UInt64)
    /// A kind that no header of a job has. A header with a void value counts as absent.
    case other(Kind)

    /// What producers send by mistake.
    package enum Kind: String, Sendable {
        case float = "a floating-point number"
        case decimal = "a decimal number"
        case boolean = "a boolean"
        case number = "a number that is too large"
        case table = "a table"
        case array = "an array"
    }

    /// The kind in the words of a message.
    var kindName: String {
        switch self {
        case .text: "a text"
        case .bytes: "bytes"
        case .integer: "a whole number"
        case .timestamp: "a timestamp"
        case .other(let kind): kind.rawValue
        }
    }
}
