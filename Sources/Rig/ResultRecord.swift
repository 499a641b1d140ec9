import FoundationEssentials
import PushModel

/// A result as the worker publishes it, with the fields that the commands need. Unknown fields and outcomes are not
/// errors.
package struct ResultRecord: Decodable, Equatable {
    /// One kind of outcome with its reason.
    package struct Kind: Hashable, Sendable {
        /// What happened.
        package var outcome: String
        /// The HTTP status, where APNs answered.
        package var status: Int?
        /// The reason, where there is one.
        package var reason: String?

        /// A kind from its parts.
        package init(outcome: String, status: Int? = nil, reason: String? = nil) {
            self.outcome = outcome
            self.status = status
            self.reason = reason
        }
    }

    /// The job it belongs to.
    package var jobID: String?
    /// Which of the job's notifications.
    package var index: Int
    /// What happened, for example `accepted`.
    package var outcome: String
    /// What the producer should do about it.
    package var action: String?
    /// The HTTP status of APNs, where it answered.
    package var status: Int?
    /// The reason APNs or the worker gave.
    package var reason: String?
    /// A sentence about an `invalid` job.
    package var detail: String?
    /// The device token, unless the workers leave it out.
    package var deviceToken: String?
    /// The producer's own text.
    package var reference: String?
    /// Since when APNs knows that the device token is dead, in milliseconds since 1970.
    package var tokenInvalidSince: Int64?
    /// The notification's id.
    package var apnsID: String?
    /// APNs' own id of the notification; in the development environment only.
    package var apnsUniqueID: String?
    /// The topic.
    package var topic: String?
    /// `production` or `development`.
    package var environment: String?
    /// The route that handled it.
    package var route: String?
    /// Which attempt was the last.
    package var attempt: Int?
    /// Whether the broker had handed the job out before.
    package var redelivered: Bool?
    /// When the producer queued the job, in milliseconds since 1970, where it said so.
    package var enqueuedAt: Int64?
    /// When the worker was done, in milliseconds since 1970.
    package var finishedAt: Int64?
    /// How long the job waited before it was sent, in milliseconds.
    package var queueMilliseconds: Int64?
    /// How long APNs took to answer, in milliseconds.
    package var apnsMilliseconds: Int64?
    /// Which worker it was.
    package var worker: String?
    /// What was asked of a broadcast channel; nil for pushes to devices.
    package var operation: String?
    /// The broadcast channel, also one that was made.
    package var channelID: String?
    /// The broadcast channel's storage policy.
    package var storagePolicy: Int?
    /// The app's broadcast channels, where they were asked for.
    package var broadcastChannels: [String]?
    /// The id of the request about a broadcast channel.
    package var apnsRequestID: String?
    /// `suppressed` where a job that came back was settled from memory, without another push.
    package var duplicate: String?

    /// The record must have every field of ``ResultField``: without one, this does not compile.
    typealias CodingKeys = ResultField

    /// Reads the body of a result message; `nil` for any other body.
    ///
    /// - Parameter body: The body as it was delivered.
    package static func parse(_ body: [UInt8]) -> ResultRecord? {
        try? JSONDecoder().decode(ResultRecord.self, from: Data(body))
    }

    /// The kind of outcome it belongs to.
    package var kind: Kind { Kind(outcome: outcome, status: status, reason: reason) }
}
