package import HTTP2
package import PushModel

/// How a request ended. Each request that was submitted gets exactly one answer.
package enum PushAnswer: Sendable {
    /// APNs answered.
    case response(APNSResponse)
    /// Provably never processed: above GOAWAY's last stream, refused, or never written. It may be sent again at once.
    case unprocessed
    /// Sent, but the answer is missing. It may or may not have been processed.
    case unanswered(UnansweredCause)
}

/// Why an answer is missing.
package enum UnansweredCause: Sendable, Equatable, CustomStringConvertible {
    /// Nothing came within the request timeout.
    case deadline
    /// APNs reset the stream.
    case reset(HTTP2ErrorCode)
    /// The connection broke or was closed.
    case connectionLost

    /// The cause for a person, as results quote it.
    package var description: String {
        switch self {
        case .deadline: "no answer before the request timeout"
        case .reset(let code): "APNs reset the stream (HTTP/2 error code \(code.rawValue))"
        case .connectionLost: "the connection was lost before the answer"
        }
    }
}

/// APNs' answer to one request.
///
/// Apple: <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
package struct APNSResponse: Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// The reason in the body; nil with 200, and if the body could not be read.
    package var reason: Reason?
    /// The `apns-unique-id`, which only the development environment sends.
    package var apnsUniqueID: [UInt8]?
    /// With 410: since when the token has been known to be invalid, in milliseconds since 1970.
    package var timestamp: Int64?
    /// The `Retry-After` header, in seconds from now.
    package var retryAfter: Int?
    /// The time from the submission of the request to its answer.
    package var microseconds: Int64
    /// What an accepted request about channels brought back; nil for pushes.
    package var channel: ChannelAnswer?

    /// A response from its parts.
    package init(
        status: Int, reason: Reason? = nil, apnsUniqueID: [UInt8]? = nil, timestamp: Int64? = nil,
        retryAfter: Int? = nil, microseconds: Int64 = 0
    ) {
        self.status = status
        self.reason = reason
        self.apnsUniqueID = apnsUniqueID
        self.timestamp = timestamp
        self.retryAfter = retryAfter
        self.microseconds = microseconds
    }

    /// The part that decisions need.
    package var answer: Answer {
        Answer(status: status, reason: reason, timestamp: timestamp, retryAfter: retryAfter)
    }
}
