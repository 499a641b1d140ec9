import COpenSSL

/// What is wrong with a client's certificate whose chain is good.
package enum CertificateFault: Sendable {
    /// Its issuer has revoked it.
    case revoked
    /// Its validity has ended.
    case expired

    /// The library's number, from which it makes the alert that the client gets (RFC 8446, 6.2).
    var number: Int32 {
        switch self {
        case .revoked: X509_V_ERR_CERT_REVOKED
        case .expired: X509_V_ERR_CERT_HAS_EXPIRED
        }
    }
}
