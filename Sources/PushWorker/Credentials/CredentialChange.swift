internal import APNSClient

/// What became of a credential when its files were read again.
enum CredentialChange: Sendable {
    /// There is a new version; with the label of the one before, nil for the first.
    case changed(APNSCredential, before: String?)
    /// The files hold what they held before.
    case unchanged(name: String)
    /// The files cannot be used; the version before stays, where there is one.
    case failed(name: String, reason: String, isInUse: Bool)
}
