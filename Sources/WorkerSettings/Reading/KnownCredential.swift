import TLS

/// A credential and what its certificate says, for the checks that compare entries.
struct KnownCredential {
    /// The credential.
    let value: CredentialConfiguration
    /// What its certificate says; nil for a key, and for a certificate that cannot be read.
    var facts: CertificateFacts?
}
