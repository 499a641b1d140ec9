import COpenSSL

/// What all connections of one kind share: role, trust, identity, application protocols. Safe on any thread.
///
/// TLS 1.2 is the oldest version, with forward-secret AEAD ciphers only (RFC 9113, 9.2). There is no compression and no
/// renegotiation. There is no session resumption either, because connections are few and long-lived.
package final class TLSContext: Sendable {
    /// Holds the function that judges clients' certificates, for OpenSSL's callback.
    final class ClientJudge: Sendable {
        /// Says what is wrong with a certificate, nil for nothing.
        let fault: @Sendable (PeerCertificate) -> CertificateFault?

        /// Keeps a function.
        ///
        /// - Parameter fault: Says what is wrong with a certificate.
        init(_ fault: @escaping @Sendable (PeerCertificate) -> CertificateFault?) { self.fault = fault }
    }

    /// The C object.
    // Set up before another thread sees it. After that OpenSSL locks: making sessions from one SSL_CTX is thread-safe.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// Whether sessions of this context are clients.
    let isClient: Bool
    /// The protocols that a server chooses from, in the wire form of RFC 7301. A callback uses them while sessions
    /// live. Written once, before another thread sees it.
    nonisolated(unsafe) private let offer: UnsafeMutableBufferPointer<UInt8>
    /// Points to `offer` for the callback.
    // Written once, before another thread sees it.
    nonisolated(unsafe) private let offerArgument: UnsafeMutablePointer<UnsafeMutableBufferPointer<UInt8>>

    /// May refuse clients whose chain is good. It is kept here for OpenSSL's callback, which does not own it.
    // Written once, before another thread sees it.
    nonisolated(unsafe) var clientJudge: ClientJudge?

    /// Makes the context of connections that we open. Certificates of servers are always verified.
    ///
    /// - Parameters:
    ///   - trust: The authorities to trust.
    ///   - identity: The certificate for a server that asks for one; nil for none.
    ///   - applicationProtocols: The protocols to offer (ALPN), the preferred one first, for example `["h2"]`.
    /// - Returns: The context.
    /// - Throws: `TLSError` when a trust file or the identity cannot be used.
    package static func client(
        trust: TrustRoots, identity: CertificateIdentity?, applicationProtocols: [String]
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isClient: true, applicationProtocols)
        try trust.install(in: context.pointer)
        try identity?.install(in: context.pointer)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        return context
    }

    /// Makes the context of connections that we accept.
    ///
    /// - Parameters:
    ///   - identity: Our certificate and key.
    ///   - applicationProtocols: Our protocols (ALPN), the preferred one first. A client that offers only others is
    ///     refused.
    ///   - clientTrust: Authorities of client certificates; nil asks for none. A certificate is optional, a bad one is
    ///     refused.
    /// - Returns: The context.
    /// - Throws: `TLSError` when a trust file or the identity cannot be used.
    package static func server(
        identity: CertificateIdentity, applicationProtocols: [String], clientTrust: TrustRoots?
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(isClient: false, applicationProtocols)
        try identity.install(in: context.pointer)
        guard let clientTrust else { return context }
        try clientTrust.install(in: context.pointer)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        return context
    }

    private init(isClient: Bool, _ applicationProtocols: [String]) throws(TLSError) {
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(isClient ? TLS_client_method() : TLS_server_method()) else {
            throw .fromQueue(.library, "making a TLS context")
        }
        self.pointer = pointer
        self.isClient = isClient
        var wire: [UInt8] = []
        for name in applicationProtocols {
            precondition((1...255).contains(name.utf8.count), "application protocol names have 1 to 255 bytes")
            wire.append(UInt8(name.utf8.count))
            wire += name.utf8
        }
        offer = .allocate(capacity: wire.count)
        _ = offer.initialize(from: wire)
        offerArgument = .allocate(capacity: 1)
        offerArgument.initialize(to: offer)
        try configure()
    }

    deinit {
        SSL_CTX_free(pointer)
        offerArgument.deallocate()
        offer.deallocate()
    }

    private func configure() throws(TLSError) {
        // TLS 1.2 gets only ciphers that HTTP/2 allows. For TLS 1.3 AES-128 comes first: it is cheaper than AES-256,
        // and strong enough.
        guard copenssl_set_minimum_version(pointer, TLS1_2_VERSION) == 1,
            SSL_CTX_set_cipher_list(pointer, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1,
            SSL_CTX_set_ciphersuites(
                pointer, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1
        else { throw .fromQueue(.library, "setting TLS versions and ciphers") }
        SSL_CTX_set_options(
            pointer, copenssl_op_no_renegotiation | copenssl_op_no_compression | copenssl_op_no_ticket)
        SSL_CTX_set_num_tickets(pointer, 0)
        copenssl_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
        guard !offer.isEmpty else { return }
        if isClient {
            // Unlike the functions above, this function returns 0 for success.
            guard SSL_CTX_set_alpn_protos(pointer, offer.baseAddress, UInt32(offer.count)) == 0 else {
                throw .fromQueue(.library, "setting the application protocols")
            }
        } else {
            SSL_CTX_set_alpn_select_cb(pointer, chooseApplicationProtocol, offerArgument)
        }
    }
}

/// Chooses a protocol for a server; OpenSSL calls it within the handshake, on the thread of the session.
private func chooseApplicationProtocol(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?, _ asked: UnsafePointer<UInt8>?, _ askedLength: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let chosen, let chosenLength, let argument else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let offer = argument.load(as: UnsafeMutableBufferPointer<UInt8>.self)
    var found: UnsafeMutablePointer<UInt8>?
    let result = SSL_select_next_proto(
        &found, chosenLength, offer.baseAddress, UInt32(offer.count), asked, askedLength)
    guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    chosen.pointee = UnsafePointer(found)
    return SSL_TLSEXT_ERR_OK
}
