import TLS

/// Certificates of an authority made for this machine, for its servers and clients.
package struct DemoCertificates: Sendable {
    /// The authority's certificate.
    package let authorityFile: String
    /// A server's certificate for `localhost`, `127.0.0.1` and `::1`, valid for 30 days.
    package let certificateFile: String
    /// The server's private key.
    package let keyFile: String

    /// Makes an authority and one server certificate.
    ///
    /// - Parameter directory: Where the three files are written.
    /// - Throws: `LocalStackError` when they cannot be made or written.
    package init(in directory: TemporaryDirectory) throws(LocalStackError) {
        let authority: CertificateAuthority
        let issued: (certificatePEM: [UInt8], keyPEM: [UInt8])
        do throws(TLSError) {
            authority = try CertificateAuthority.create(commonName: "Martlet on this machine")
            issued = try authority.issue(commonName: "localhost", names: ["localhost", "127.0.0.1", "::1"], days: 30)
        } catch {
            throw LocalStackError(.system, "cannot make certificates: \(error)")
        }
        authorityFile = try directory.write(authority.certificatePEM, to: "authority.pem")
        certificateFile = try directory.write(issued.certificatePEM, to: "server.pem")
        keyFile = try directory.write(issued.keyPEM, to: "server.key")
    }
}
