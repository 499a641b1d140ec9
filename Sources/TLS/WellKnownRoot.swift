import COpenSSL

/// A published authority, to be looked for among the trusted authorities.
package struct WellKnownRoot: Sendable {
    /// Its common name.
    package var commonName: String
    /// The rest of its subject, as short names and values in their order.
    var subject: [(name: String, value: String)]
    /// The SHA-256 digest of its certificate, in hexadecimal.
    var fingerprint: String

    /// An authority from its parts.
    ///
    /// - Parameters:
    ///   - commonName: Its common name.
    ///   - subject: The rest of its subject, as short names and values in their order.
    ///   - fingerprint: The SHA-256 digest of its certificate, in upper-case hexadecimal.
    package init(commonName: String, subject: [(name: String, value: String)], fingerprint: String) {
        self.commonName = commonName
        self.subject = subject
        self.fingerprint = fingerprint
    }

    /// The roots above APNs' server certificates: the root that came in 2025, and the old one.
    ///
    /// Apple, "Setting up a remote notification server":
    /// <https://developer.apple.com/documentation/usernotifications/setting-up-a-remote-notification-server>
    package static let apns: [WellKnownRoot] = [
        WellKnownRoot(
            commonName: "USERTrust RSA Certification Authority",
            subject: [
                ("C", "US"), ("ST", "New Jersey"), ("L", "Jersey City"), ("O", "The USERTRUST Network"),
            ], fingerprint: "E793C9B02FD8AA13E21C31228ACCB08119643B749C898964B1746D46C3D4CBD2"),
        WellKnownRoot(
            commonName: "AAA Certificate Services",
            subject: [
                ("C", "GB"), ("ST", "Greater Manchester"), ("L", "Salford"), ("O", "Comodo CA Limited"),
            ], fingerprint: "D7A7A0FB5D7E2731D771E9484EBCDEF71D5F0C3E0A2948782BC83EE0EA699EF4"),
    ]
}

extension TrustRoots {
    /// Whether exactly this authority is among the trusted ones.
    ///
    /// - Parameter root: The authority.
    /// - Returns: Whether a certificate chain that ends there is trusted.
    /// - Throws: `TLSError` when a trust file cannot be read.
    package func contains(_ root: WellKnownRoot) throws(TLSError) -> Bool {
        let context = try TLSContext.client(trust: self, identity: nil, applicationProtocols: [])
        ERR_clear_error()
        guard let name = X509_NAME_new() else { throw .fromQueue(.library, "naming an authority") }
        defer { X509_NAME_free(name) }
        for part in root.subject + [("CN", root.commonName)]
        where X509_NAME_add_entry_by_txt(name, part.name, MBSTRING_UTF8, part.value, -1, -1, 0) != 1 {
            throw .fromQueue(.invalidName, "naming an authority")
        }
        guard let search = X509_STORE_CTX_new() else { throw .fromQueue(.library, "searching the trusted authorities") }
        defer { X509_STORE_CTX_free(search) }
        guard X509_STORE_CTX_init(search, SSL_CTX_get_cert_store(context.pointer), nil, nil) == 1 else {
            throw .fromQueue(.library, "searching the trusted authorities")
        }
        // Names are compared in their canonical form, so the string types in the certificate do not matter.
        let found = Certificate.take(X509_STORE_CTX_get1_certs(search, name))
        ERR_clear_error()
        for certificate in found where try certificate.fingerprint == root.fingerprint { return true }
        return false
    }
}
