import COpenSSL

/// Owns one reference to a key, private or public.
final class Key: Sendable {
    /// The C object.
    // Never changed after init; OpenSSL counts references atomically and locks its caches (EVP_PKEY, 3.0).
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes over a reference.
    ///
    /// - Parameter pointer: An EVP_PKEY.
    init(takingOwnership pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// Makes a new P-256 key.
    ///
    /// - Returns: The key.
    /// - Throws: `TLSError` when the random generator fails.
    static func generateP256() throws(TLSError) -> Key {
        ERR_clear_error()
        guard let key = copenssl_generate_p256_key() else { throw .fromQueue(.library, "making a P-256 key") }
        return Key(takingOwnership: key)
    }

    /// Whether this is a key on P-256 (prime256v1), the only curve of ES256 (RFC 7518, 3.4).
    var isP256: Bool {
        guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC else { return false }
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return false }
        return OBJ_txt2nid(name) == NID_X9_62_prime256v1
    }
}
