internal import COpenSSL

/// A P-256 private key that signs provider tokens (ES256: RFC 7518, 3.4), as Apple's `.p8` files hold it.
package final class ES256PrivateKey: Sendable {
    private let key: Key

    private init(_ key: Key) { self.key = key }

    /// Reads PEM, as in a `.p8` file.
    ///
    /// - Throws: `TLSError` when it is no private key, is encrypted, or is of another curve.
    package init(pem: [UInt8]) throws(TLSError) {
        guard let key = Key.privateKey(pem: pem) else { throw .last(.badKey, "no unencrypted PEM private key") }
        guard key.isP256 else { throw TLSError(.badKey, "the key is not of the curve P-256, which ES256 needs") }
        self.key = key
    }

    /// Reads a `.p8` file.
    package convenience init(file: String) throws(TLSError) {
        let pem = try PEMFile.read(file)
        do throws(TLSError) {
            try self.init(pem: pem)
        } catch {
            throw TLSError(error.code, "\(file): \(error.message)")
        }
    }

    /// A new random key.
    package static func generate() throws(TLSError) -> ES256PrivateKey {
        guard let key = copenssl_generate_p256() else { throw .last(.library, "no key could be made") }
        return ES256PrivateKey(Key(takingOwnership: key))
    }

    /// The key as a `.p8` file holds it (PKCS#8, PEM). Secret.
    package var pem: [UInt8] { key.privatePEM }

    /// The key that verifies what this one signs.
    package var publicKey: ES256PublicKey { ES256PublicKey(key) }

    /// Signs a message.
    ///
    /// - Returns: r and s, each 32 bytes, most significant first (RFC 7518, 3.4), instead of OpenSSL's DER.
    package func sign(_ message: Span<UInt8>) throws(TLSError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .last(.library, "EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: 128)
        var length = der.count
        let signed = message.withUnsafeBytes { bytes in
            EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1
                && EVP_DigestSign(
                    context, &der, &length, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) == 1
        }
        guard signed, let raw = ECDSASignature.raw(der: der[..<length]) else { throw .last(.library, "signing failed") }
        return raw
    }
}

/// A P-256 public key that verifies provider tokens.
package final class ES256PublicKey: Sendable {
    private let key: Key

    init(_ key: Key) { self.key = key }

    /// Reads PEM: a public key, or a private one whose public half is used.
    ///
    /// - Throws: `TLSError` when it is neither, or of another curve.
    package init(pem: [UInt8]) throws(TLSError) {
        guard let key = Key.publicKey(pem: pem) ?? Key.privateKey(pem: pem) else {
            throw .last(.badKey, "neither a PEM public key nor a PEM private key")
        }
        ERR_clear_error()
        guard key.isP256 else { throw TLSError(.badKey, "the key is not of the curve P-256, which ES256 needs") }
        self.key = key
    }

    /// The key in PEM.
    package var pem: [UInt8] { key.publicPEM }

    /// Whether the signature, 64 raw bytes or DER, is this key's for the message.
    package func isValid(signature: [UInt8], for message: Span<UInt8>) -> Bool {
        guard let der = signature.count == 64 ? ECDSASignature.der(raw: signature) : signature,
            let context = EVP_MD_CTX_new()
        else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return message.withUnsafeBytes { bytes in
            EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1
                && EVP_DigestVerify(
                    context, der, der.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) == 1
        }
    }
}

/// Turns ECDSA signatures from OpenSSL's DER into the fixed form of JWS and back.
private enum ECDSASignature {
    static func raw(der: ArraySlice<UInt8>) -> [UInt8]? {
        der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            guard let signature = d2i_ECDSA_SIG(nil, &next, bytes.count) else { return nil }
            defer { ECDSA_SIG_free(signature) }
            var raw = [UInt8](repeating: 0, count: 64)
            return raw.withUnsafeMutableBufferPointer { out -> Bool in
                guard let start = out.baseAddress else { return false }
                // Padded: one number in 256 is shorter than 32 bytes.
                return BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32) == 32
            } ? raw : nil
        }
    }

    static func der(raw: [UInt8]) -> [UInt8]? {
        guard let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let isSet = raw.withUnsafeBufferPointer { bytes -> Bool in
            guard let start = bytes.baseAddress, let r = BN_bin2bn(start, 32, nil) else { return false }
            guard let s = BN_bin2bn(start + 32, 32, nil) else {
                BN_free(r)
                return false
            }
            return ECDSA_SIG_set0(signature, r, s) == 1
        }
        let length = isSet ? i2d_ECDSA_SIG(signature, nil) : 0
        guard length > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(length))
        der.withUnsafeMutableBufferPointer { out in
            var next = out.baseAddress
            _ = i2d_ECDSA_SIG(signature, &next)
        }
        return der
    }
}
