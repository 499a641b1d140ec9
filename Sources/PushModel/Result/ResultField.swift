/// A field of a result's body. Its name stands nowhere else: the code that writes results and the code that reads them
/// use this. The schema of results has the same fields.
package enum ResultField: MessageField {
    case jobID, index, outcome, action, status, reason, detail
    case deviceToken, tokenInvalidSince, reference, apnsID, apnsUniqueID
    case operation, channelID, storagePolicy, broadcastChannels, apnsRequestID
    case topic, environment, route, attempt, redelivered, duplicate
    case enqueuedAt, finishedAt, queueMilliseconds, apnsMilliseconds, worker

    /// The name on the wire.
    package var name: StaticString {
        switch self {
        case .jobID: "job_id"
        case .index: "index"
        case .outcome: "outcome"
        case .action: "action"
        case .status: "status"
        case .reason: "reason"
        case .detail: "detail"
        case .deviceToken: "device_token"
        case .tokenInvalidSince: "token_invalid_since"
        case .reference: "reference"
        case .apnsID: "apns_id"
        case .apnsUniqueID: "apns_unique_id"
        case .operation: "operation"
        case .channelID: "channel_id"
        case .storagePolicy: "storage_policy"
        case .broadcastChannels: "channels"
        case .apnsRequestID: "apns_request_id"
        case .topic: "topic"
        case .environment: "environment"
        case .route: "route"
        case .attempt: "attempt"
        case .redelivered: "redelivered"
        case .duplicate: "duplicate"
        case .enqueuedAt: "enqueued_at"
        case .finishedAt: "finished_at"
        case .queueMilliseconds: "queue_ms"
        case .apnsMilliseconds: "apns_ms"
        case .worker: "worker"
        }
    }
}
