import COpenSSL

/// The TLS library in use.
package enum TLSLibrary {
    /// Keeps the library from freeing its memory at exit, because other threads may still use the library while `main`
    /// returns. Call it before anything else uses the library (OPENSSL_init_crypto(3)).
    package static func surviveExit() {
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }

    /// Its name and version as it states them at run time, for example `OpenSSL 3.0.17 1 Jul 2025`.
    package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    /// Whether the process's own library context knows a cipher.
    ///
    /// - Parameter name: OpenSSL's name for it, for example `AES-128-GCM`.
    package static func knowsCipher(_ name: String) -> Bool {
        let cipher = EVP_CIPHER_fetch(nil, name, nil)
        EVP_CIPHER_free(cipher)
        ERR_clear_error()
        return cipher != nil
    }
}
