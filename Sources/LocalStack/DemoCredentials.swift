import TLS

/// A provider token key of nobody's, for a simulator that is told to trust it.
package struct DemoCredentials: Sendable {
    /// The private key as Apple hands it out: PKCS#8 in PEM, in a file that only the owner can read.
    package let keyFile: String
    /// The public half, in PEM, for the simulator.
    package let publicKeyFile: String
    /// The key's ten-character identifier.
    package let keyID: String
    /// The team's ten-character identifier.
    package let teamID: String

    /// Makes a new key.
    /// - Parameters:
    ///   - directory: Where its two files are written.
    ///   - keyID: Ten letters and digits.
    ///   - teamID: Ten letters and digits.
    /// - Throws: `LocalStackError` when the key cannot be made or written.
    package init(
        in directory: TemporaryDirectory, keyID: String = "DEMOKEY001", teamID: String = "DEMOTEAM01"
    ) throws(LocalStackError) {
        let key: ES256PrivateKey
        do throws(TLSError) {
            key = try ES256PrivateKey.generate()
        } catch {
            throw LocalStackError(.system, "cannot make a provider key: \(error)")
        }
        self.keyID = keyID
        self.teamID = teamID
        keyFile = try directory.write(key.pem, to: "AuthKey_\(keyID).p8")
        publicKeyFile = try directory.write(key.publicKey.pem, to: "AuthKey_\(keyID).pub.pem")
    }
}

/// Certificates of an authority of nobody's, for servers and clients on this machine.
package struct DemoCertificates: Sendable {
    /// The authority's certificate.
    package let authorityFile: String
    /// A server's certificate for `localhost`, `127.0.0.1` and `::1`.
    package let certificateFile: String
    /// The server's private key.
    package let keyFile: String

    /// Makes an authority and one server certificate.
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
