package import TLS

/// An authority that lives as long as a test, and what it issues.
package struct ThrowawayCertificates: Sendable {
    /// The authority.
    package let authority: CertificateAuthority

    /// Makes a new authority.
    ///
    /// - Parameter name: The authority's name.
    /// - Throws: `TLSError` when OpenSSL fails.
    package init(name: String = "Throw-away authority") throws(TLSError) {
        authority = try .create(commonName: name)
    }

    /// Trust in this authority and no other.
    package var trust: TrustRoots { TrustRoots(systemRoots: false, files: [], pem: [authority.certificatePEM]) }

    /// Issues a server's identity.
    ///
    /// - Parameters:
    ///   - names: DNS names and addresses.
    ///   - days: How long it is valid.
    ///   - notBeforeOffset: When it starts to be valid, in seconds from now.
    /// - Returns: The identity.
    /// - Throws: `TLSError` when a name is not possible.
    package func server(
        names: [String] = ["localhost", "127.0.0.1", "::1"], days: Int = 1, notBeforeOffset: Int = 0
    ) throws(TLSError) -> CertificateIdentity {
        let issued = try authority.issue(
            commonName: "server", names: names, days: days, notBeforeOffset: notBeforeOffset)
        return try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM)
    }

    /// Issues a client's identity.
    ///
    /// - Parameters:
    ///   - commonName: The subject's common name.
    ///   - days: How long it is valid.
    ///   - notBeforeOffset: When it starts to be valid, in seconds from now.
    ///   - userID: The subject's user identifier.
    /// - Returns: The identity.
    /// - Throws: `TLSError` when a name is not possible.
    package func client(
        commonName: String = "client", days: Int = 1, notBeforeOffset: Int = 0, userID: String? = nil
    ) throws(TLSError) -> CertificateIdentity {
        let issued = try authority.issue(
            commonName: commonName, names: [], days: days, client: true, notBeforeOffset: notBeforeOffset,
            userID: userID)
        return try CertificateIdentity(certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM)
    }

    /// A server's context for `h2`.
    ///
    /// - Parameters:
    ///   - names: DNS names and addresses of the server.
    ///   - asksForCertificates: Whether clients may show a certificate of this authority.
    /// - Returns: The context.
    /// - Throws: `TLSError` when a name is not possible.
    package func serverContext(
        names: [String] = ["localhost", "127.0.0.1", "::1"], asksForCertificates: Bool = false
    ) throws(TLSError) -> TLSContext {
        try .server(
            identity: try server(names: names), applicationProtocols: ["h2"],
            clientTrust: asksForCertificates ? trust : nil)
    }

    /// A client's context for `h2` that trusts this authority only.
    ///
    /// - Parameter identity: What to show.
    /// - Returns: The context.
    /// - Throws: `TLSError` when the identity cannot be used.
    package func clientContext(identity: CertificateIdentity? = nil) throws(TLSError) -> TLSContext {
        try .client(trust: trust, identity: identity, applicationProtocols: ["h2"])
    }
}
