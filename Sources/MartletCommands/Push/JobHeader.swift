/// A value of an AMQP header that a producer writes.
enum JobHeader: Equatable {
    /// A text.
    case text(String)
    /// A whole number.
    case integer(Int64)
}
