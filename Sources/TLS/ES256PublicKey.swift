import COpenSSL

/// A public key for ES256. Safe on any thread.
package final class ES256PublicKey: Sendable {
    private let key: Key

    /// The key as a `PUBLIC KEY` text, without any private half.
    package let pem: [UInt8]

    /// Reads a key.
    ///
    /// - Parameter pem: A `PUBLIC KEY` text (RFC 7468, 13).
    /// - Throws: `TLSError` with the code `invalidKey` when it is damaged or not on P-256.
    package convenience init(pem: [UInt8]) throws(TLSError) {
        try self.init(try PEM.publicKey(in: pem))
    }

    /// Takes the public half of a key.
    ///
    /// - Parameter key: The key, its private half possibly included.
    /// - Throws: `TLSError` with the code `invalidKey` when it is not on P-256.
    init(_ key: Key) throws(TLSError) {
        guard key.isP256 else { throw TLSError(.invalidKey, "the key is not an elliptic-curve key on P-256") }
        self.key = key
        pem = try key.publicPEM
    }

    /// Verifies a signature. Every fault gives false, never an error.
    ///
    /// - Parameters:
    ///   - signature: 64 raw bytes (RFC 7518, 3.4) or DER (RFC 3279, 2.2.3).
    ///   - message: The signed bytes, not yet hashed.
    /// - Returns: Whether the key's private half signed these bytes.
    package func isValid(signature: [UInt8], for message: Span<UInt8>) -> Bool {
        if let der = ES256Signature.der(fromRaw: signature), verify(der, message) { return true }
        // A DER signature may happen to have 64 bytes as well.
        return verify(signature, message)
    }

    private func verify(_ der: [UInt8], _ message: Span<UInt8>) -> Bool {
        defer { ERR_clear_error() }
        guard let digest = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(digest) }
        guard EVP_DigestVerifyInit(digest, nil, EVP_sha256(), nil, key.pointer) == 1 else { return false }
        return message.withUnsafeBytes { bytes in
            EVP_DigestVerify(
                digest, der, der.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        } == 1
    }
}
