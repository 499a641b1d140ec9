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
    /// Whether the notification becomes a dead letter if its outcome wants one. False only for a campaign that an
    /// operator cancelled without dead letters.
    package var leavesDeadLetter = true

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
