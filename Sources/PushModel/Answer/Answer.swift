/// The parts of an answer of APNs that decisions need.
package struct Answer: Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// The reason in the body; nil with 200, or if the body could not be read.
    package var reason: Reason?
    /// With 410: since when the token is known to be invalid, in milliseconds since 1970.
    package var timestamp: Int64?
    /// The `Retry-After` header, in seconds.
    package var retryAfter: Int?

    /// An answer from its parts.
    package init(status: Int, reason: Reason? = nil, timestamp: Int64? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}
