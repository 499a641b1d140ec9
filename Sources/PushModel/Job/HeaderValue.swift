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
    /// Any other kind: a float, a table and so on. A header with a void value counts as absent.
    case other
}
