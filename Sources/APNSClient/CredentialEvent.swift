package import PushModel

/// A change of the credential of a pool. The pool tells its lane.
package enum CredentialEvent: Sendable, Equatable {
    /// The new version is used from now on. Its connection works, but there was no push to prove the version with.
    case tried(version: Int)
    /// The new version was accepted, and is used from now on.
    case switched(version: Int)
    /// The new version was refused. The old version stays in use.
    case candidateRefused(version: Int, reason: String)
    /// A version that was refused before, or whose time was over, is used again. The reason is that the other version
    /// was refused, or its time is over.
    case retried(version: Int)
    /// The version in use was refused on a connection on which it had been accepted. The connection closes, and the next
    /// one shows whether the version is good.
    case doubted(version: Int, reason: String)
    /// The version in use was refused, or the old version that would have come back after it. Every connection that
    /// uses the refused version is being closed.
    case refused(version: Int, reason: String, concerns: CredentialVerdict.RefusalScope)
}
