import COpenSSL

/// The digest that RabbitMQ's password hashes use.
///
/// [FIPS 180-4](https://csrc.nist.gov/pubs/fips/180-4/upd1/final)
package enum SHA256 {
    /// The digest of a whole message, 32 bytes.
    ///
    /// - Parameter message: Any bytes.
    /// - Throws: `library` when OpenSSL has no such digest.
    package static func digest(_ message: [UInt8]) throws(TLSError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil) == 1 else {
            throw .fromQueue(.library, "hashing with SHA-256")
        }
        return digest
    }
}
