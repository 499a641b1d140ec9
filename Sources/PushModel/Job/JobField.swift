/// A field of an enveloped job. Its name stands nowhere else: the code that writes jobs, the code that reads them and
/// the help use this. The schema of jobs has the same fields.
package enum JobField: MessageField {
    case id, deviceToken, deviceTokens, topic, environment
    case pushType, priority, expiration, collapseID, apnsID
    case deadline, notBefore, onUnknown, reference, payload
    case operation, channelID, storagePolicy, results

    /// The name on the wire. It is inlined: the name of a constant field is a constant, so reading a job looks nothing
    /// up.
    @inline(__always)
    package var name: StaticString {
        switch self {
        case .id: "id"
        case .deviceToken: "device_token"
        case .deviceTokens: "device_tokens"
        case .topic: "topic"
        case .environment: "environment"
        case .pushType: "push_type"
        case .priority: "priority"
        case .expiration: "expiration"
        case .collapseID: "collapse_id"
        case .apnsID: "apns_id"
        case .deadline: "deadline"
        case .notBefore: "not_before"
        case .onUnknown: "on_unknown"
        case .reference: "reference"
        case .payload: "payload"
        case .operation: "operation"
        case .channelID: "channel_id"
        case .storagePolicy: "storage_policy"
        case .results: "results"
        }
    }
}
