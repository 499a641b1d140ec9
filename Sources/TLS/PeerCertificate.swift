import COpenSSL

/// What the certificate of the peer says about the peer. Safe on any thread.
package struct PeerCertificate: Sendable {
    /// The longest user identifier that is read, in bytes.
    private static let userIDLimit = 256

    /// The subject, RFC 2253 form (`CN=…,UID=…`).
    package let subject: String
    /// The subject's user identifier (0.9.2342.19200300.100.1.1), nil for none.
    package let userID: String?
    /// The serial number in lower-case hexadecimal digits.
    package let serialNumber: String
    /// The end of its validity, in seconds since 1970.
    package let notAfter: Int64
    /// Why its chain is not trusted, in OpenSSL's words; nil if the chain is trusted or was not verified.
    package let distrust: String?

    private let certificate: Certificate

    /// Reads the first certificate of a text; nothing is verified.
    ///
    /// - Parameter pem: One PEM certificate or more.
    /// - Throws: `TLSError` when none is found or one is damaged.
    package init(pem: [UInt8]) throws(TLSError) {
        self.init(try PEM.certificates(in: pem, from: "the certificate text")[0], distrust: nil)
    }

    /// Looks into a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - distrust: The fault that its verification found; nil for none.
    init(_ certificate: Certificate, distrust: String?) {
        self.certificate = certificate
        self.distrust = distrust
        subject = certificate.subject
        notAfter = certificate.notAfter
        userID = certificate.userID.flatMap { $0.utf8.count <= Self.userIDLimit ? $0 : nil }
        serialNumber = certificate.serialNumber.lowercased()
    }

    /// The content of an extension.
    ///
    /// - Parameter identifier: The object identifier in dotted form.
    /// - Returns: Its DER bytes, nil if the certificate has no such extension or has it twice.
    package func content(ofExtension identifier: String) -> [UInt8]? {
        // An extension that is there twice counts as missing, because RFC 5280 (4.2) forbids it.
        (try? certificate.content(ofExtension: identifier)) ?? nil
    }
}

extension TLSSession {
    /// The certificate that the peer showed, with the result of its verification; nil when the peer showed none.
    package var peerCertificate: PeerCertificate? {
        guard let pointer = SSL_get1_peer_certificate(session) else { return nil }
        let result = SSL_get_verify_result(session)
        let distrust = result == Int(X509_V_OK) ? nil : String(cString: X509_verify_cert_error_string(result))
        return PeerCertificate(Certificate(takingOwnership: pointer), distrust: distrust)
    }
}

extension TLSContext {
    /// Makes the context of connections that we accept even if the client's certificate is bad.
    ///
    /// The certificate is verified nevertheless. `PeerCertificate.distrust` says what was found. The server must not
    /// serve a client with such a fault.
    ///
    /// - Parameters:
    ///   - identity: Our certificate and key.
    ///   - applicationProtocols: Our protocols (ALPN), the preferred one first.
    ///   - trust: Authorities of client certificates.
    /// - Returns: The context.
    /// - Throws: `TLSError` when a trust file or the identity cannot be used.
    package static func server(
        identity: CertificateIdentity, applicationProtocols: [String], judgingClientsBy trust: TrustRoots
    ) throws(TLSError) -> TLSContext {
        let context = try server(
            identity: identity, applicationProtocols: applicationProtocols, clientTrust: trust)
        // The session keeps the result (SSL_get_verify_result(3)), although the handshake goes on.
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, { _, _ in 1 })
        return context
    }
}

extension TLSContext {
    /// Makes the context of connections that we accept. A function of ours may refuse clients whose chain is good.
    ///
    /// - Parameters:
    ///   - identity: Our certificate and key.
    ///   - applicationProtocols: Our protocols (ALPN), the preferred one first.
    ///   - clientTrust: Authorities of client certificates; a certificate is optional, a bad one is refused.
    ///   - fault: Says what is wrong with a certificate whose chain is good, nil for nothing; called within the
    ///     handshake, on the thread of the session.
    /// - Returns: The context.
    /// - Throws: `TLSError` when a trust file or the identity cannot be used.
    package static func server(
        identity: CertificateIdentity, applicationProtocols: [String], clientTrust: TrustRoots,
        refusing fault: @escaping @Sendable (PeerCertificate) -> CertificateFault?
    ) throws(TLSError) -> TLSContext {
        let context = try server(
            identity: identity, applicationProtocols: applicationProtocols, clientTrust: clientTrust)
        let judge = ClientJudge(fault)
        context.clientJudge = judge
        SSL_CTX_set_cert_verify_callback(
            context.pointer, judgeClient, Unmanaged.passUnretained(judge).toOpaque())
        return context
    }
}

/// Verifies a client's chain and asks the judge; OpenSSL calls it within the handshake, on the thread of the session.
private func judgeClient(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let store, let argument, X509_verify_cert(store) == 1, let pointer = X509_STORE_CTX_get0_cert(store),
        X509_up_ref(pointer) == 1
    else { return 0 }
    let judge = Unmanaged<TLSContext.ClientJudge>.fromOpaque(argument).takeUnretainedValue()
    guard let fault = judge.fault(PeerCertificate(Certificate(takingOwnership: pointer), distrust: nil)) else {
        return 1
    }
    X509_STORE_CTX_set_error(store, fault.number)
    return 0
}
