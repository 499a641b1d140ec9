/// What finally happened to a notification.
package enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// APNs answered 200: accepted, which does not prove delivery.
    case accepted
    /// The device token is dead.
    case deadToken = "dead_token"
    /// APNs refused the notification for good.
    case rejected
    /// Its deadline or expiration passed before it could be sent.
    case expired
    /// Retryable answers until attempts or age ran out.
    case exhausted
    /// Sent, and never answered.
    case unknown
    /// The job is unreadable, against a rule, or has no route.
    case invalid

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
        }
    }

    /// Whether the notification also becomes a dead letter.
    package var isDeadLetter: Bool { self != .accepted }
}

/// What whoever reads the result should do.
package enum Action: String, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Stop using the device token.
    case dropToken = "drop_token"
    /// Do not delete tokens yet: the whole route suddenly reports dead ones, so look at its configuration.
    case hold
    /// Mend what the producer sends.
    case fixRequest = "fix_request"
    /// Mend the topic, or which tokens are used with it.
    case fixTopic = "fix_topic"
    /// Mend the route's credential.
    case fixCredential = "fix_credential"
    /// Send it again when the trouble is over.
    case replay
    /// Find out whether it arrived; sending again may duplicate it.
    case check

    /// The action as constant text.
    package var text: StaticString {
        switch self {
        case .none: "none"
        case .dropToken: "drop_token"
        case .hold: "hold"
        case .fixRequest: "fix_request"
        case .fixTopic: "fix_topic"
        case .fixCredential: "fix_credential"
        case .replay: "replay"
        case .check: "check"
        }
    }
}

/// What a job wants when its notification was sent and never answered.
package enum OnUnknown: String, Hashable, Sendable, CaseIterable {
    /// Send it again, at the risk of a duplicate.
    case retry
    /// Report it as `unknown`.
    case report

    /// The wish these bytes name.
    package init?(utf8 bytes: Span<UInt8>) {
        if bytes.matches("retry" as StaticString) {
            self = .retry
        } else if bytes.matches("report" as StaticString) {
            self = .report
        } else {
            return nil
        }
    }
}

/// An answer of APNs, as far as decisions need it.
package struct Answer: Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// The reason of the body; nil with 200, or where the body could not be read.
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

/// How one attempt at a notification ended.
package enum Attempted: Sendable, Equatable {
    /// APNs answered.
    case response(Answer)
    /// Provably never processed: above GOAWAY's last stream, refused, or never written.
    case unprocessed
    /// Sent without an answer; the text says what happened instead (deadline, reset, connection lost).
    case unanswered(String)
    /// Not sent, because its time had passed.
    case expired
    /// Not sent, because the host it needs could not be reached; the text says why.
    case unreachable(String)
    /// Not sent, because a moment ago another request got this answer, which refuses the credential.
    case heldBack(Answer)
}

/// The final word on a notification: what its result and dead letter say.
package struct FinalReport: Sendable, Equatable {
    /// What happened.
    package var outcome: Outcome
    /// What to do about it.
    package var action: Action
    /// The HTTP status, where APNs answered.
    package var status: Int?
    /// Why; nil when accepted.
    package var reason: Reason?
    /// What a person should know beside the reason.
    package var detail: String?
    /// Since when the token is known to be invalid, in milliseconds since 1970.
    package var tokenInvalidSince: Int64?

    /// A report from its parts.
    package init(
        _ outcome: Outcome, _ action: Action, status: Int? = nil, reason: Reason? = nil, detail: String? = nil,
        tokenInvalidSince: Int64? = nil
    ) {
        self.outcome = outcome
        self.action = action
        self.status = status
        self.reason = reason
        self.detail = detail
        self.tokenInvalidSince = tokenInvalidSince
    }
}

/// What the worker does about an attempt.
package enum Settlement: Sendable, Equatable {
    /// Report it as final, with a dead letter where the outcome wants one.
    case report(FinalReport)
    /// Send it again at once on a live connection; no attempt is counted.
    case resend
    /// Send it again on a connection opened after this one; no attempt is counted.
    case resendOnNewConnection
    /// Publish a retry copy to the tier at this position, for the attempt of this number.
    case retry(tier: Int, attempt: Int)
    /// Park the route, and publish a retry copy to the tier at this position; the attempt stays as it is.
    case park(tier: Int)
}
