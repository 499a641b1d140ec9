/// What finally happened to a notification.
package enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// APNs answered 200: accepted, which does not prove delivery.
    case accepted
    /// The device token is dead.
    case deadToken = "dead_token"
    /// APNs refused the notification for good.
    case rejected
    /// Its deadline or expiration passed before it could be sent, or would pass before its next attempt.
    case expired
    /// It got retryable answers or could not be sent, and it may not wait for another attempt: attempts or age ran out,
    /// or no tier fits.
    case exhausted
    /// It was sent, and APNs never answered.
    case unknown
    /// The job is unreadable, against a rule, or has no route.
    case invalid
    /// An operator cancelled its campaign before it was sent.
    case cancelled

    /// The outcome as constant text.
    package var text: StaticString {
        switch self {
        case .accepted: "accepted"
        case .deadToken: "dead_token"
        case .rejected: "rejected"
        case .expired: "expired"
        case .exhausted: "exhausted"
        case .unknown: "unknown"
        case .invalid: "invalid"
        case .cancelled: "cancelled"
        }
    }

    /// Whether the notification also becomes a dead letter, unless the report says otherwise.
    package var isDeadLetter: Bool { self != .accepted }
}
