/// Holds the judgement of clients' certificates for OpenSSL's callback.
final class ClientJudge: Sendable {
    /// Says what is wrong with a certificate, nil for nothing.
    let fault: @Sendable (PeerCertificate) -> CertificateFault?

    /// Keeps a judgement.
    ///
    /// - Parameter fault: Says what is wrong with a certificate.
    init(_ fault: @escaping @Sendable (PeerCertificate) -> CertificateFault?) { self.fault = fault }
}
