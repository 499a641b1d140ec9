/// A fact that one lane of a route learned about the credential, so that the others need not ask APNs.
enum CredentialNews: Equatable, Sendable {
    /// A version is accepted: earlier refusals of this version no longer count.
    case accepted(version: Int)
    /// A new version is refused, and the version before it stays in use.
    case candidateRefused(version: Int, reason: String)
    /// The version in use is refused.
    case refused(version: Int, reason: String)
}
