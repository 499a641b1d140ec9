import TLS

/// A provider token key that Apple does not know, for a simulator that is told to trust it.
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
    ///
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
