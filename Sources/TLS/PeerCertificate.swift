import COpenSSL

/// What the certificate of the other side says about it. Safe on any thread.
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
    /// Why its chain is not believed, in OpenSSL's words; nil where it is.
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
    ///   - distrust: What its verification found wrong.
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
    /// - Returns: Its DER bytes, nil where the certificate has no such extension.
    package func content(ofExtension identifier: String) -> [UInt8]? {
        // One that is there twice counts as none: nothing good can be meant by it.
        (try? certificate.content(ofExtension: identifier)) ?? nil
    }
}

extension TLSSession {
    /// The certificate the peer showed and what its verification found, nil when it showed none.
    package var peerCertificate: PeerCertificate? {
        guard let pointer = SSL_get1_peer_certificate(session) else { return nil }
        let result = SSL_get_verify_result(session)
        let distrust = result == Int(X509_V_OK) ? nil : String(cString: X509_verify_cert_error_string(result))
        return PeerCertificate(Certificate(takingOwnership: pointer), distrust: distrust)
    }
}

extension TLSContext {
    /// Makes the context of connections we accept and whose clients we answer even when their certificate is bad.
    ///
    /// The certificate is verified nevertheless: `PeerCertificate.distrust` says what was found, and the server must
    /// serve nobody whom it distrusts.
    ///
    /// - Parameters:
    ///   - identity: Who we are.
    ///   - applicationProtocols: What we speak (ALPN), the most welcome first.
    ///   - trust: Authorities of client certificates.
    /// - Returns: The context.
    /// - Throws: `TLSError` when a trust file or the identity cannot be used.
    package static func server(
        identity: CertificateIdentity, applicationProtocols: [String], judgingClientsBy trust: TrustRoots
    ) throws(TLSError) -> TLSContext {
        let context = try server(
            identity: identity, applicationProtocols: applicationProtocols, clientTrust: trust)
        // The verdict stays with the session (SSL_get_verify_result(3)) although the handshake goes on.
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, { _, _ in 1 })
        return context
    }
}

extension TLSContext {
    /// Makes the context of connections we accept and whose clients we refuse by a judgement of our own, too.
    ///
    /// - Parameters:
    ///   - identity: Who we are.
    ///   - applicationProtocols: What we speak (ALPN), the most welcome first.
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
