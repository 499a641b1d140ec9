import COpenSSL

/// A secret key that seals short texts, so that only its owner can read or make them: AES-256-GCM (NIST SP 800-38D).
package struct SealingKey: Sendable {
    /// How many bytes a key has.
    package static let length = 32
    /// How many bytes a nonce has.
    package static let nonceLength = 12
    /// How many bytes a sealed text is longer than the text.
    package static let tagLength = 16

    /// The key itself: a secret.
    package let bytes: [UInt8]

    /// Takes a key.
    ///
    /// - Parameter bytes: The 32 bytes of the key.
    /// - Throws: `TLSError` with the code `invalidKey` when the length is another.
    package init(bytes: [UInt8]) throws(TLSError) {
        guard bytes.count == Self.length else {
            throw TLSError(.invalidKey, "a sealing key has \(Self.length) bytes, this one has \(bytes.count)")
        }
        self.bytes = bytes
    }

    /// Makes a new key.
    ///
    /// - Returns: The key.
    /// - Throws: `TLSError` when the random generator fails.
    package static func generate() throws(TLSError) -> SealingKey {
        var bytes = [UInt8](repeating: 0, count: length)
        guard RAND_bytes(&bytes, Int32(bytes.count)) == 1 else { throw .fromQueue(.library, "making a sealing key") }
        return try SealingKey(bytes: bytes)
    }

    /// Seals a text.
    ///
    /// - Parameters:
    ///   - text: The text to seal.
    ///   - nonce: 12 bytes that must never be used for another text.
    /// - Returns: The sealed text and, behind it, the 16 bytes that prove it unchanged.
    /// - Throws: `TLSError` when OpenSSL fails.
    package func seal(_ text: [UInt8], nonce: [UInt8]) throws(TLSError) -> [UInt8] {
        precondition(nonce.count == Self.nonceLength, "a nonce has 12 bytes")
        ERR_clear_error()
        guard let context = EVP_CIPHER_CTX_new() else { throw .fromQueue(.library, "sealing") }
        defer { EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: text.count + Self.tagLength)
        var count: Int32 = 0
        var rest: Int32 = 0
        let isSealed = sealed.withUnsafeMutableBufferPointer { output in
            guard let base = output.baseAddress else { return false }
            return EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, bytes, nonce) == 1
                && EVP_EncryptUpdate(context, base, &count, text, Int32(text.count)) == 1
                && EVP_EncryptFinal_ex(context, base + Int(count), &rest) == 1
                && EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), base + text.count) == 1
        }
        guard isSealed else { throw .fromQueue(.library, "sealing") }
        return sealed
    }

    /// Opens a text that this key has sealed.
    ///
    /// - Parameters:
    ///   - sealed: A sealed text with its proof.
    ///   - nonce: The 12 bytes it was sealed with.
    /// - Returns: The text; nil for bytes that this key has not sealed with this nonce.
    package func open(_ sealed: ArraySlice<UInt8>, nonce: [UInt8]) -> [UInt8]? {
        guard nonce.count == Self.nonceLength, sealed.count >= Self.tagLength else { return nil }
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
        }
        var tag = Array(sealed.suffix(Self.tagLength))
        let secret = Array(sealed.dropLast(Self.tagLength))
        var text = [UInt8](repeating: 0, count: secret.count + Self.tagLength)
        var count: Int32 = 0
        var rest: Int32 = 0
        let isOpen = text.withUnsafeMutableBufferPointer { output in
            guard let base = output.baseAddress else { return false }
            return EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, bytes, nonce) == 1
                && EVP_DecryptUpdate(context, base, &count, secret, Int32(secret.count)) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), &tag) == 1
                && EVP_DecryptFinal_ex(context, base + Int(count), &rest) == 1
        }
        return isOpen ? Array(text.prefix(secret.count)) : nil
    }
}
