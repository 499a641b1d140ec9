import COpenSSL

/// A certificate with the chain above it and its private key, by which a server or a client proves who it is.
package struct CertificateIdentity: Sendable {
    /// The certificate, and those above it.
    let chain: [Certificate]
    private let key: Key

    /// The certificate's subject, RFC 2253 form (`CN=…,O=…`).
    package let subject: String
    /// The end of the certificate's validity, in seconds since 1970.
    package let notAfter: Int64
    /// The subjects of the certificate and of the certificates above it that are sent with it.
    package var chainSubjects: [String] { chain.map(\.subject) }

    /// Reads an identity from PEM files; both may be the same file.
    ///
    /// - Parameters:
    ///   - certificateFile: The certificate, followed by the intermediate ones.
    ///   - keyFile: The unencrypted private key.
    /// - Throws: `TLSError` when a file cannot be read or the two do not belong together.
    package init(certificateFile: String, keyFile: String) throws(TLSError) {
        let certificate = try PEM.contents(ofFile: certificateFile)
        let key = try PEM.contents(ofFile: keyFile)
        try self.init(certificate, certificateFile, key, keyFile)
    }

    /// Reads an identity from PEM texts.
    ///
    /// - Parameters:
    ///   - certificatePEM: The certificate, followed by the intermediate ones.
    ///   - keyPEM: The unencrypted private key.
    /// - Throws: `TLSError` when a text is damaged or the two do not belong together.
    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
        try self.init(certificatePEM, "the certificate text", keyPEM, "the key text")
    }

    /// Reads an identity from a PKCS#12 file (`.p12`, `.pfx`). Old exports with RC2-40 or 3DES can be read, too, as far
    /// as OpenSSL's legacy provider is installed where it is needed.
    ///
    /// - Parameters:
    ///   - file: The file's path.
    ///   - password: The password that protects it; nil for none.
    /// - Throws: `TLSError` when the file cannot be read, the password is wrong, or key or certificate is missing.
    package init(pkcs12File file: String, password: [UInt8]?) throws(TLSError) {
        try self.init(pkcs12: try PEM.contents(ofFile: file), password: password, source: file)
    }

    /// Reads an identity from the bytes of a PKCS#12 file.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - password: The password that protects it; nil for none.
    ///   - source: The name of the bytes in an error.
    /// - Throws: `TLSError` when the password is wrong, the bytes are damaged, or key or certificate is missing.
    package init(pkcs12 bytes: [UInt8], password: [UInt8]?, source: String = "the PKCS#12 text") throws(TLSError) {
        let content = try PKCS12.read(bytes, password: password, from: source)
        try self.init(content.chain, content.key, keySource: source)
    }

    private init(
        _ certificate: [UInt8], _ certificateSource: String, _ key: [UInt8], _ keySource: String
    ) throws(TLSError) {
        try self.init(
            try PEM.certificates(in: certificate, from: certificateSource),
            try PEM.privateKey(in: key, from: keySource), keySource: keySource)
    }

    private init(_ chain: [Certificate], _ key: Key, keySource: String) throws(TLSError) {
        self.chain = chain
        self.key = key
        subject = chain[0].subject
        notAfter = chain[0].notAfter
        guard X509_check_private_key(chain[0].pointer, self.key.pointer) == 1 else {
            throw .fromQueue(.invalidKey, "the key in \(keySource) is not the key of \(subject)")
        }
    }

    /// Gives the identity to a context, which counts references of its own.
    ///
    /// - Parameter context: An SSL_CTX.
    /// - Throws: `TLSError` when OpenSSL refuses the certificate or the key, for example as too weak for its security
    ///   level.
    func install(in context: OpaquePointer) throws(TLSError) {
        ERR_clear_error()
        var isAccepted = SSL_CTX_use_certificate(context, chain[0].pointer) == 1
        for certificate in chain.dropFirst() where isAccepted {
            isAccepted = copenssl_add_chain_certificate(context, certificate.pointer) == 1
        }
        guard isAccepted else { throw .fromQueue(.invalidCertificate, "using the certificate \(subject)") }
        guard SSL_CTX_use_PrivateKey(context, key.pointer) == 1 else {
            throw .fromQueue(.invalidKey, "using the key of \(subject)")
        }
    }
}
