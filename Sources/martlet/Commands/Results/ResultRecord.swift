import FoundationEssentials

/// A result as the worker publishes it: what the commands need of it. Unknown fields and outcomes are no error.
struct ResultRecord: Decodable, Equatable {
    /// The job it belongs to.
    var jobID: String?
    /// Which of the job's notifications.
    var index: Int
    /// What happened, for example `accepted`.
    var outcome: String
    /// What the producer should do about it.
    var action: String?
    /// The HTTP status of APNs, where it answered.
    var status: Int?
    /// The reason APNs or the worker gave.
    var reason: String?
    /// A sentence about an `invalid` job.
    var detail: String?
    /// The device token, unless workers leave it out.
    var deviceToken: String?
    /// The producer's own text.
    var reference: String?
    /// The notification's id.
    var apnsID: String?
    /// The topic.
    var topic: String?
    /// `production` or `development`.
    var environment: String?
    /// The route that handled it.
    var route: String?
    /// Which attempt was the last.
    var attempt: Int?
    /// Whether the broker had handed the job out before.
    var redelivered: Bool?
    /// When the producer queued the job, in milliseconds since 1970, where it said so.
    var enqueuedAt: Int64?
    /// When the worker was done, in milliseconds since 1970.
    var finishedAt: Int64?
    /// How long the job waited before it was sent, in milliseconds.
    var queueMilliseconds: Int64?
    /// How long APNs took to answer, in milliseconds.
    var apnsMilliseconds: Int64?
    /// Which worker it was.
    var worker: String?
    /// What was asked of a channel; nil for pushes to devices.
    var operation: String?
    /// The channel, also one that was made.
    var channelID: String?
    /// The channel's storage policy.
    var storagePolicy: Int?
    /// The app's channels, where they were asked for.
    var channels: [String]?
    /// `suppressed` where a job that came back was settled from memory, without another push.
    var duplicate: String?

    enum CodingKeys: String, CodingKey {
        case index, outcome, action, status, reason, detail, reference, topic, environment, route, attempt
        case redelivered, worker, operation, channels, duplicate
        case channelID = "channel_id"
        case storagePolicy = "storage_policy"
        case jobID = "job_id"
        case deviceToken = "device_token"
        case apnsID = "apns_id"
        case enqueuedAt = "enqueued_at"
        case finishedAt = "finished_at"
        case queueMilliseconds = "queue_ms"
        case apnsMilliseconds = "apns_ms"
    }

    /// Reads the body of a result message; `nil` for any other body.
    /// - Parameter body: The body as it was delivered.
    static func parse(_ body: [UInt8]) -> ResultRecord? {
        try? JSONDecoder().decode(ResultRecord.self, from: Data(body))
    }

    /// The result on one line for people; of the token only enough to recognise it.
    var line: String {
        var parts: [String] = []
        if let finishedAt { parts.append(TimeText.moment(finishedAt)) }
        parts.append(outcome.padded(to: 10))
        if status != nil || reason != nil {
            parts.append([status.map(String.init), reason].compactMap(\.self).joined(separator: " "))
        }
        parts.append("\(jobID ?? "-")#\(index)")
        if let topic { parts.append("\(topic) (\(environment ?? "-"))") }
        if let deviceToken { parts.append("token \(deviceToken.prefix(8))…") }
        if let operation { parts.append(operation) }
        if let channelID { parts.append("channel \(channelID)") }
        if let storagePolicy { parts.append("storage policy \(storagePolicy)") }
        if let channels { parts.append("\(channels.count) channels: \(channels.joined(separator: " "))") }
        if let attempt, attempt > 1 { parts.append("attempt \(attempt)") }
        if redelivered == true { parts.append("redelivered") }
        if let apnsMilliseconds { parts.append(TimeText.length(apnsMilliseconds)) }
        if let reference { parts.append(reference) }
        if let detail { parts.append("— \(detail)") }
        return parts.joined(separator: "  ")
    }
}

extension String {
    /// The text followed by spaces up to a width.
    /// - Parameter width: In characters; longer texts stay as they are.
    func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }

    /// The text preceded by spaces up to a width.
    /// - Parameter width: In characters; longer texts stay as they are.
    func aligned(to width: Int) -> String {
        count >= width ? self : String(repeating: " ", count: width - count) + self
    }
}
