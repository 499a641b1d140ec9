internal import COpenSSL

/// A private key for ES256: ECDSA with P-256 and SHA-256 (RFC 7518, 3.4). Safe on any thread.
package final class ES256PrivateKey: Sendable {
    private let key: Key
    /// The key as an unencrypted PKCS#8 text: a secret.
    package let pem: [UInt8]
    /// The other half, for verifying.
    package let publicKey: ES256PublicKey

    /// Reads a key, for example the `.p8` file of Apple's developer site.
    ///
    /// - Parameter pem: an unencrypted PKCS#8 text.
    /// - Throws: `TLSError` with the code `invalidKey` when it is damaged, encrypted or not on P-256.
    package convenience init(pem: [UInt8]) throws(TLSError) {
        try self.init(try PEM.privateKey(in: pem, from: "the key text"))
    }

    private init(_ key: Key) throws(TLSError) {
        guard key.isP256 else { throw TLSError(.invalidKey, "the key is not an elliptic-curve key on P-256") }
        self.key = key
        pem = try key.privatePEM
        publicKey = try ES256PublicKey(key)
    }

    /// Reads a `.p8` file as Apple gives it out.
    ///
    /// - Throws: `TLSError` as `init(pem:)`, or when the file cannot be read; the message names the file.
    package convenience init(file: String) throws(TLSError) {
        let pem = try PEM.contents(ofFile: file)
        do throws(TLSError) {
            try self.init(pem: pem)
        } catch {
            throw TLSError(error.code, "\(file): \(error.message)")
        }
    }

    /// Makes a new key.
    ///
    /// - Returns: the key.
    /// - Throws: `TLSError` when the random generator fails.
    package static func generate() throws(TLSError) -> ES256PrivateKey {
        try ES256PrivateKey(try .generateP256())
    }

    /// Signs a message.
    ///
    /// - Parameter message: the bytes, not yet hashed.
    /// - Returns: the 64 bytes of RFC 7518, 3.4: r and s, each 32 bytes, most significant first.
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

/// A public key for ES256. Safe on any thread.
package final class ES256PublicKey: Sendable {
    private let key: Key

    /// The key as a `PUBLIC KEY` text, without any private half.
    package let pem: [UInt8]

    /// Reads a key.
    ///
    /// - Parameter pem: a `PUBLIC KEY` text (RFC 7468, 13).
    /// - Throws: `TLSError` with the code `invalidKey` when it is damaged or not on P-256.
    package convenience init(pem: [UInt8]) throws(TLSError) {
        try self.init(try PEM.publicKey(in: pem))
    }

    /// Takes the public half of a key.
    ///
    /// - Parameter key: the key, its private half possibly included.
    /// - Throws: `TLSError` with the code `invalidKey` when it is not on P-256.
    fileprivate init(_ key: Key) throws(TLSError) {
        guard key.isP256 else { throw TLSError(.invalidKey, "the key is not an elliptic-curve key on P-256") }
        self.key = key
        pem = try key.publicPEM
    }

    /// Verifies a signature; whatever is wrong with it is false, never an error.
    ///
    /// - Parameters:
    ///   - signature: 64 raw bytes (RFC 7518, 3.4) or DER (RFC 3279, 2.2.3).
    ///   - message: the signed bytes, not yet hashed.
    /// - Returns: whether the key's private half signed these bytes.
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

/// The two forms of an ECDSA signature.
private enum ES256Signature {
    /// How many bytes one of the two numbers has on P-256.
    private static let half = 32

    /// Turns DER into raw form.
    static func raw(fromDER der: ArraySlice<UInt8>) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &next, bytes.count)
        }
        guard let signature else { return nil }
        defer { ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 2 * half)
        let isWritten = raw.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            // Padded: one number in 256 has a leading zero byte.
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, Int32(half)) == half
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + half, Int32(half)) == half
        }
        return isWritten ? raw : nil
    }

    /// Turns raw form into DER; nil for anything that has not 64 bytes.
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 2 * half, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let isRead = raw.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            let r = BN_bin2bn(base, Int32(half), nil)
            let s = BN_bin2bn(base + half, Int32(half), nil)
            // Takes both over unless one is missing.
            if ECDSA_SIG_set0(signature, r, s) == 1 { return true }
            BN_free(r)
            BN_free(s)
            return false
        }
        guard isRead else { return nil }
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(signature, &der)
        guard let der, count > 0 else { return nil }
        defer { CRYPTO_free(der, nil, 0) }
        return Array(UnsafeBufferPointer(start: der, count: Int(count)))
    }
}
