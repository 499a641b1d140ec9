import APNSClient

/// What became of a credential when its files were read again.
enum CredentialChange: Sendable {
    /// There is a new version. `before` is the label of the version before, nil for the first.
    case changed(APNSCredential, before: String?)
    /// The files hold what they held before.
    case unchanged(name: String)
    /// The files cannot be used. The version before stays, if there is one.
    case failed(name: String, reason: String, isInUse: Bool)
}
