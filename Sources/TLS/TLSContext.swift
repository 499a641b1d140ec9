internal import COpenSSL

/// Who may vouch for a peer.
package struct TrustRoots: Sendable {
    /// Whether the system's certificate authorities may.
    package var systemRoots: Bool
    /// PEM files with certificates that may too.
    package var files: [String]
    /// The same, already in memory.
    package var pem: [[UInt8]]

    /// Roots from their parts.
    package init(systemRoots: Bool, files: [String], pem: [[UInt8]] = []) {
        self.systemRoots = systemRoots
        self.files = files
        self.pem = pem
    }
}

/// A certificate with its chain and private key.
package struct CertificateIdentity: Sendable {
    let chain: [Certificate]
    let key: Key

    /// Reads PEM files: the leaf first, then intermediates; and the leaf's unencrypted key.
    package init(certificateFile: String, keyFile: String) throws(TLSError) {
        try self.init(
            certificatePEM: PEMFile.read(certificateFile), keyPEM: PEMFile.read(keyFile),
            names: (certificateFile, keyFile))
    }

    /// The same from memory.
    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
        try self.init(certificatePEM: certificatePEM, keyPEM: keyPEM, names: ("the certificate", "the key"))
    }

    private init(certificatePEM: [UInt8], keyPEM: [UInt8], names: (String, String)) throws(TLSError) {
        chain = Certificate.all(pem: certificatePEM)
        guard let leaf = chain.first else { throw TLSError(.badFile, "\(names.0) holds no PEM certificate") }
        guard let key = Key.privateKey(pem: keyPEM) else {
            throw .last(.badFile, "\(names.1) holds no unencrypted PEM private key")
        }
        guard X509_check_private_key(leaf.pointer, key.pointer) == 1 else {
            ERR_clear_error()
            throw TLSError(.badKey, "\(names.1) does not belong to \(names.0)")
        }
        self.key = key
    }

    /// The leaf's subject.
    package var subject: String { chain.first?.subject ?? "" }
    /// When the leaf expires, in seconds since 1970.
    package var notAfter: Int64 { chain.first?.notAfter ?? 0 }
}

/// What many TLS connections share: trust, identity, ALPN. At least TLS 1.2, and the peer of a client is always verified.
// An SSL_CTX may be used by many threads once nothing changes it, and nothing does after `init`.
package final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The protocols a server chooses from, in wire form; the ALPN callback points at it.
    private let protocols: [UInt8]

    private init(_ method: OpaquePointer?, protocols: [String]) throws(TLSError) {
        guard let pointer = SSL_CTX_new(method) else { throw .last(.library, "SSL_CTX_new") }
        self.pointer = pointer
        self.protocols = protocols.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
        guard copenssl_set_min_tls12(pointer) == 1 else { throw .last(.library, "TLS 1.2") }
        _ = copenssl_set_mode(pointer)
        copenssl_set_options(pointer)
    }

    deinit { SSL_CTX_free(pointer) }

    /// A context for connecting to servers that the roots vouch for.
    ///
    /// - Throws: `TLSError` when a trust file or the identity cannot be used.
    package static func client(
        trust: TrustRoots, identity: CertificateIdentity?, applicationProtocols: [String]
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(TLS_client_method(), protocols: applicationProtocols)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        try context.add(trust)
        if let identity { try context.add(identity) }
        if !context.protocols.isEmpty {
            // The odd one out: 0 is success here.
            let status = SSL_CTX_set_alpn_protos(context.pointer, context.protocols, UInt32(context.protocols.count))
            guard status == 0 else { throw .last(.library, "ALPN") }
        }
        return context
    }

    /// A context for serving; with `clientTrust` a client may show a certificate, which is then verified.
    ///
    /// - Throws: `TLSError` when the identity or a trust file cannot be used.
    package static func server(
        identity: CertificateIdentity, applicationProtocols: [String], clientTrust: TrustRoots?
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(TLS_server_method(), protocols: applicationProtocols)
        try context.add(identity)
        if let clientTrust {
            SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
            try context.add(clientTrust)
        }
        // A client without ALPN is served too; one that offers only other protocols is refused (RFC 7301, 3.2).
        SSL_CTX_set_alpn_select_cb(context.pointer, selectProtocol, Unmanaged.passUnretained(context).toOpaque())
        return context
    }

    private func add(_ trust: TrustRoots) throws(TLSError) {
        if trust.systemRoots, SSL_CTX_set_default_verify_paths(pointer) != 1 { throw .last(.library, "system roots") }
        guard let store = SSL_CTX_get_cert_store(pointer) else { throw .last(.library, "certificate store") }
        var texts: [(name: String, pem: [UInt8])] = trust.pem.map { ("the trusted certificates", $0) }
        for file in trust.files { texts.append((file, try PEMFile.read(file))) }
        for text in texts {
            let certificates = Certificate.all(pem: text.pem)
            guard !certificates.isEmpty else { throw TLSError(.badFile, "\(text.name) holds no PEM certificate") }
            for certificate in certificates where X509_STORE_add_cert(store, certificate.pointer) != 1 {
                throw .last(.badFile, text.name)
            }
        }
    }

    private func add(_ identity: CertificateIdentity) throws(TLSError) {
        for (position, certificate) in identity.chain.enumerated() {
            let status =
                position == 0
                ? Int(SSL_CTX_use_certificate(pointer, certificate.pointer))
                : copenssl_add_chain_certificate(pointer, certificate.pointer)
            guard status == 1 else { throw .last(.badFile, "certificate") }
        }
        guard SSL_CTX_use_PrivateKey(pointer, identity.key.pointer) == 1 else { throw .last(.badKey, "private key") }
    }

    fileprivate func choose(
        from offered: UnsafePointer<UInt8>?, count: UInt32, into chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        length: UnsafeMutablePointer<UInt8>?
    ) -> Int32 {
        protocols.withUnsafeBufferPointer { own in
            var selected: UnsafeMutablePointer<UInt8>?
            let status = SSL_select_next_proto(
                &selected, length, own.baseAddress, UInt32(own.count), offered, count)
            guard status == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            chosen?.pointee = UnsafePointer(selected)
            return SSL_TLSEXT_ERR_OK
        }
    }
}

/// OpenSSL asks which of the client's protocols to speak; on the thread that runs the handshake.
private func selectProtocol(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ count: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    return Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue()
        .choose(from: offered, count: count, into: chosen, length: length)
}
