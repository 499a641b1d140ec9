package import PushModel

/// The answer to one request, of APNs or of something on the way to it.
///
/// Apple: <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
package struct APNSResponse: Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// Who gave the answer.
    package var speaker: Speaker
    /// The reason in the body; nil with 200, and if the body could not be read.
    package var reason: Reason?
    /// The `apns-unique-id`, which only the development environment sends.
    package var apnsUniqueID: [UInt8]?
    /// With 410: since when the token has been known to be invalid, in milliseconds since 1970.
    package var timestamp: Int64?
    /// The `Retry-After` header, in seconds from the arrival of the answer.
    package var retryAfter: Int?
    /// The time from the submission of the request to its answer.
    package var microseconds: Int64
    /// The result of an accepted request about broadcast channels; nil for pushes and for refusals.
    package var broadcastChannel: BroadcastChannelAnswer?

    /// A response from its parts.
    package init(
        status: Int, speaker: Speaker = .apns, reason: Reason? = nil, apnsUniqueID: [UInt8]? = nil,
        timestamp: Int64? = nil,
        retryAfter: Int? = nil, microseconds: Int64 = 0
    ) {
        self.status = status
        self.speaker = speaker
        self.reason = reason
        self.apnsUniqueID = apnsUniqueID
        self.timestamp = timestamp
        self.retryAfter = retryAfter
        self.microseconds = microseconds
    }

    /// The part that decisions need.
    package var answer: Answer {
        Answer(status: status, speaker: speaker, reason: reason, timestamp: timestamp, retryAfter: retryAfter)
    }
}
