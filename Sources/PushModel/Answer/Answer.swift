/// The parts of an answer that decisions need.
package struct Answer: Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// Who gave the answer.
    package var speaker: Speaker
    /// The reason in the body; nil with 200, or if the body could not be read.
    package var reason: Reason?
    /// With 410: since when the token is known to be invalid, in milliseconds since 1970.
    package var timestamp: Int64?
    /// The `Retry-After` header, in seconds.
    package var retryAfter: Int?

    /// An answer from its parts.
    package init(
        status: Int, speaker: Speaker = .apns, reason: Reason? = nil, timestamp: Int64? = nil, retryAfter: Int? = nil
    ) {
        self.status = status
        self.speaker = speaker
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    /// The answer in words: its reason, or else its status.
    package var text: String {
        switch speaker {
        case .apns: reason?.rawValue ?? "status \(status)"
        case .gateway: "status \(status) of a gateway or proxy, not of APNs"
        case .unknown where status == 200:
            "status \(status) without an \(HeaderName.apnsID), so it is not known who gave it"
        case .unknown: "status \(status), which APNs does not give, so it is not known who gave it"
        }
    }
}
