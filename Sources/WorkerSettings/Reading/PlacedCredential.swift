import TLS

/// A credential and where it was written, for the checks that compare entries.
struct PlacedCredential {
    /// The credential.
    let value: CredentialConfiguration
    /// Where its name stands.
    let origin: ConfigurationOrigin
    /// What its certificate says; nil for a key, and for a certificate that cannot be read.
    var facts: CertificateFacts?
}
