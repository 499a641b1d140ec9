import COpenSSL

/// A private key for ES256: ECDSA with P-256 and SHA-256 (RFC 7518, 3.4). Safe on any thread.
package final class ES256PrivateKey: Sendable {
    private let key: Key
    /// The key as an unencrypted PKCS#8 text: a secret.
    package let pem: [UInt8]
    /// The other half, for verifying.
    package let publicKey: ES256PublicKey

    /// Reads a key, for example the `.p8` file of Apple's developer site.
    ///
    /// - Parameter pem: An unencrypted PKCS#8 text.
    /// - Throws: `TLSError` with the code `invalidKey` when it is damaged, encrypted or not on P-256.
    package convenience init(pem: [UInt8]) throws(TLSError) {
        try self.init(try PEM.privateKey(in: pem, from: "the key text"), from: "the key text")
    }

    private init(_ key: Key, from source: String) throws(TLSError) {
        guard key.isP256 else { throw TLSError(.invalidKey, "\(source) is not an elliptic-curve key on P-256") }
        self.key = key
        pem = try key.privatePEM
        publicKey = try ES256PublicKey(key)
    }

    /// Reads a `.p8` file as Apple issues it.
    ///
    /// - Throws: `TLSError` as `init(pem:)`, or when the file cannot be read; the message names the file.
    package convenience init(file: String) throws(TLSError) {
        try self.init(try PEM.privateKey(in: try PEM.contents(ofFile: file), from: file), from: file)
    }

    /// Makes a new key.
    ///
    /// - Returns: The key.
    /// - Throws: `TLSError` when the random generator fails.
    package static func generate() throws(TLSError) -> ES256PrivateKey {
        try ES256PrivateKey(try .generateP256(), from: "the new key")
    }

    /// Signs a message.
    ///
    /// - Parameter message: The bytes, not yet hashed.
    /// - Returns: The 64 bytes of RFC 7518, 3.4: r and s, each 32 bytes, most significant first.
    /// - Throws: `TLSError` when OpenSSL fails.
    package func sign(_ message: Span<UInt8>) throws(TLSError) -> [UInt8] {
        ERR_clear_error()
        guard let digest = EVP_MD_CTX_new() else { throw .fromQueue(.library, "signing") }
        defer { EVP_MD_CTX_free(digest) }
        // A P-256 signature in DER has at most 72 bytes.
        var der = [UInt8](repeating: 0, count: 80)
        var length = der.count
        guard EVP_DigestSignInit(digest, nil, EVP_sha256(), nil, key.pointer) == 1,
            message.withUnsafeBytes({ bytes in
                EVP_DigestSign(
                    digest, &der, &length, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
            }) == 1
        else { throw .fromQueue(.library, "signing") }
        guard let raw = ES256Signature.raw(fromDER: der[..<length]) else { throw .fromQueue(.library, "signing") }
        return raw
    }
}
