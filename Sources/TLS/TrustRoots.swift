import COpenSSL

/// The authorities that a side trusts.
package struct TrustRoots: Sendable {
    /// Whether the authorities of the operating system are trusted.
    package var systemRoots: Bool
    /// PEM files with further authorities.
    package var files: [String]
    /// PEM texts with further authorities.
    package var pem: [[UInt8]]

    /// Names the authorities. Files and texts are read when a context is made; OpenSSL may search the operating
    /// system's directory later, during a handshake.
    ///
    /// - Parameters:
    ///   - systemRoots: Whether the authorities of the operating system are trusted.
    ///   - files: Paths of PEM files, each with one certificate or more.
    ///   - pem: PEM texts, each with one certificate or more.
    package init(systemRoots: Bool, files: [String], pem: [[UInt8]] = []) {
        self.systemRoots = systemRoots
        self.files = files
        self.pem = pem
    }

    /// Adds the authorities to a context.
    ///
    /// - Parameter context: An SSL_CTX.
    /// - Throws: `TLSError` when a file cannot be read or holds no certificate.
    func install(in context: OpaquePointer) throws(TLSError) {
        ERR_clear_error()
        if systemRoots, SSL_CTX_set_default_verify_paths(context) != 1 {
            throw .fromQueue(.library, "reading the system's trusted certificates")
        }
        let store = SSL_CTX_get_cert_store(context)
        for file in files {
            try Self.add(try PEM.certificates(in: try PEM.contents(ofFile: file), from: file), to: store)
        }
        for text in pem { try Self.add(try PEM.certificates(in: text, from: "the trust text"), to: store) }
    }

    private static func add(_ certificates: [Certificate], to store: OpaquePointer?) throws(TLSError) {
        for certificate in certificates where X509_STORE_add_cert(store, certificate.pointer) != 1 {
            throw .fromQueue(.invalidCertificate, "trusting \(certificate.subject)")
        }
    }
}
