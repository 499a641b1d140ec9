/// One entry of `credentials`.
package enum CredentialConfiguration: Sendable, Equatable {
    /// A provider token key.
    case token(TokenCredentialConfiguration)
    /// A client certificate.
    case certificate(CertificateCredentialConfiguration)

    /// The name that routes use.
    package var name: String {
        switch self {
        case .token(let credential): credential.name
        case .certificate(let credential): credential.name
        }
    }

    /// The files that the credential is read from.
    package var files: [String] {
        switch self {
        case .token(let credential): [credential.keyFile]
        case .certificate(let credential):
            switch credential.source {
            case .pkcs12(let file, let passwordFile): [file] + (passwordFile.map { [$0] } ?? [])
            case .pem(let certificateFile, let keyFile): [certificateFile, keyFile]
            }
        }
    }
}
