/// A field that only a message with several results has, beside the fields of a result. These names stand nowhere else.
///
/// The top of the message has the fields that all results share, the fields that are null in most results, and
/// `results`. An entry has `message_id`, perhaps `correlation_id` and `traceparent`, and the fields of its result that
/// the top lacks or has as null.
package enum BatchField: MessageField {
    /// The results, in the order in which their notifications were settled.
    case results
    /// The id that the entry's result would have as a message of its own.
    case messageID
    /// The job's correlation id, if it has one.
    case correlationID
    /// The job's trace context, if it has one.
    case traceparent

    /// The name on the wire.
    package var name: StaticString {
        switch self {
        case .results: "results"
        case .messageID: "message_id"
        case .correlationID: "correlation_id"
        case .traceparent: HeaderName.traceparent
        }
    }

    /// The fields of a result that are null at the top. An entry has such a field only if it has a value for it.
    static let oftenNull: [ResultField] = [
        .status, .reason, .detail, .deviceToken, .tokenInvalidSince, .reference, .apnsID, .apnsUniqueID, .enqueuedAt,
        .queueMilliseconds, .apnsMilliseconds,
    ]
}
