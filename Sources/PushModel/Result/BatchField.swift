/// What a message with several results has beside the fields of a result. The one place where these names stand.
///
/// At the top stand the fields that all results share, those that most have as null, and `results`. An entry has the
/// fields in which its result differs from the top, and the three others of these.
package enum BatchField: MessageField {
    /// The results, in the order in which their notifications were settled.
    case results
    /// The id that the entry's result would have as a message of its own.
    case messageID
    /// The job's correlation id, where it has one.
    case correlationID
    /// The job's trace context, where it has one.
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

    /// The fields of a result that stand at the top as null, and in an entry that has a value for them.
    static let oftenNull: [ResultField] = [
        .status, .reason, .detail, .deviceToken, .tokenInvalidSince, .reference, .apnsID, .apnsUniqueID, .enqueuedAt,
        .queueMilliseconds, .apnsMilliseconds,
    ]
}
