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

    /// Whether the credential, or what is done with it, keeps the notification from being sent.
    package var blamesCredential: Bool {
        switch self {
        case .park: true
        case .report(let final): final.action == .fixCredential
        case .resend, .resendOnNewConnection, .retry: false
        }
    }
}
