/// What the worker does about an attempt.
package enum Settlement: Sendable, Equatable {
    /// Report the notification as final, with a dead letter if the outcome wants one.
    case report(FinalReport)
    /// Send the notification again at once on a live connection. No attempt is counted.
    case resend
    /// Send the notification again on a connection opened after this one. No attempt is counted.
    case resendOnNewConnection
    /// Publish a retry copy to the tier at this position, for the attempt of this number.
    case retry(tier: Int, attempt: Int)
    /// Park the route, and publish a retry copy to the tier at this position; the attempt stays as it is.
    case park(tier: Int)

    /// Whether the notification cannot be sent because of the credential or its use.
    package var blamesCredential: Bool {
        switch self {
        case .park: true
        case .report(let final): final.action == .fixCredential
        case .resend, .resendOnNewConnection, .retry: false
        }
    }
}
