package import PushModel

/// What became of a pool's credential. The lane is told when it happens.
package enum CredentialEvent: Sendable, Equatable {
    /// The new version is used from now on, because its connection works and there is no push to prove it with.
    case tried(version: Int)
    /// The new version was accepted, and is used from now on.
    case switched(version: Int)
    /// The new version was refused. The old one goes on.
    case candidateRefused(version: Int, reason: String)
    /// A version that was refused before is used again, because the other one was refused, too, or its time is over.
    case retried(version: Int)
    /// The version in use was refused. Every connection that uses it is being closed.
    case refused(version: Int, reason: String, concerns: CredentialVerdict.RefusalScope)
}
