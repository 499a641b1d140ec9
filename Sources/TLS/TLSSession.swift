import Buffers
import COpenSSL

/// One TLS connection without a socket: ciphertext in, ciphertext out.
///
/// One thread at a time; it may be handed from one thread to another between calls. After any error call only
/// `withPendingCiphertext(_:)`: the pending ciphertext may hold the alert that tells the peer why.
package final class TLSSession {
    /// The result of a read from a TLS session.
    package enum ReadResult: Equatable, Sendable {
        /// So many bytes of plaintext lie at the beginning of the buffer.
        case bytes(Int)
        /// Nothing more can be read before `receive(_:)` gets more ciphertext.
        case needsInput
        /// The peer has said that it will send no more.
        case closed
    }

    private let context: TLSContext
    /// The C object.
    let session: OpaquePointer
    private let transport: UnsafeMutablePointer<TLSTransport>
    private var isEstablished = false
    private var isClosing = false
    /// The error that ended the session. OpenSSL must not be called again after an error (SSL_get_error(3)).
    private var failure: TLSError?

    /// Opens a session towards a server.
    ///
    /// - Parameters:
    ///   - context: A client's context.
    ///   - serverName: The host name or numeric address that the server's certificate must be for. Names are also sent
    ///     (SNI).
    /// - Throws: `TLSError` when the name cannot be a host name.
    package convenience init(client context: TLSContext, serverName: String) throws(TLSError) {
        precondition(context.isClient, "client session from a server's context")
        try self.init(context)
        try verify(serverName)
        SSL_set_connect_state(session)
    }

    /// Opens a session towards a client.
    ///
    /// - Parameter context: A server's context.
    /// - Throws: `TLSError` without memory left.
    package convenience init(server context: TLSContext) throws(TLSError) {
        precondition(!context.isClient, "server session from a client's context")
        try self.init(context)
        SSL_set_accept_state(session)
    }

    private init(_ context: TLSContext) throws(TLSError) {
        ERR_clear_error()
        guard let session = SSL_new(context.pointer) else { throw .fromQueue(.library, "making a TLS session") }
        let transport = UnsafeMutablePointer<TLSTransport>.allocate(capacity: 1)
        transport.initialize(to: TLSTransport())
        self.context = context
        self.session = session
        self.transport = transport
        guard let bio = TLSTransport.makeBIO(for: transport) else {
            throw .fromQueue(.library, "making a TLS session")
        }
        // One reference serves both directions when they are the same BIO (SSL_set_bio(3)).
        SSL_set_bio(session, bio, bio)
    }

    deinit {
        // Free the session first: its BIO refers to the transport.
        SSL_free(session)
        transport.deinitialize(count: 1)
        transport.deallocate()
    }

    /// Takes ciphertext that arrived from the peer; it is copied once.
    ///
    /// - Parameter ciphertext: The bytes, in any portions.
    package func receive(_ ciphertext: Span<UInt8>) {
        ciphertext.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            transport.pointee.inbound.append(base, count: bytes.count)
        }
    }

    /// Continues the handshake as far as the received bytes allow.
    ///
    /// - Returns: True once it is complete.
    /// - Throws: `TLSError` when it failed; pending ciphertext may hold the alert for the peer.
    package func handshake() throws(TLSError) -> Bool {
        if let failure { throw failure }
        if isEstablished { return true }
        Self.clearForeignErrors()
        let result = SSL_do_handshake(session)
        if result == 1 {
            isEstablished = true
            return true
        }
        try check(SSL_get_error(session, result))
        return false
    }

    /// Reads plaintext of at most one record; call it again until it needs input.
    ///
    /// - Parameter plaintext: Gets up to `plaintext.count` bytes at its beginning; must not be empty.
    /// - Returns: How many bytes there were, that input is needed, or that the peer has closed.
    /// - Throws: `TLSError` when the connection is broken.
    package func read(into plaintext: inout [UInt8]) throws(TLSError) -> ReadResult {
        if let failure { throw failure }
        precondition(!plaintext.isEmpty, "read into an empty buffer")
        // Most calls end here. A call of OpenSSL costs more than this check, and nothing can be there.
        if transport.pointee.inbound.count == 0, SSL_has_pending(session) == 0 {
            return SSL_get_shutdown(session) & SSL_RECEIVED_SHUTDOWN == 0 ? .needsInput : .closed
        }
        Self.clearForeignErrors()
        var count = 0
        let result = plaintext.withUnsafeMutableBytes { SSL_read_ex(session, $0.baseAddress, $0.count, &count) }
        if result == 1 { return .bytes(count) }
        let error = SSL_get_error(session, result)
        if error == SSL_ERROR_ZERO_RETURN { return .closed }
        try check(error)
        return .needsInput
    }

    /// Encrypts plaintext into the pending ciphertext, in records of at most 16 KiB.
    ///
    /// - Parameter plaintext: The bytes; all of them are taken. One call with all bytes that are ready costs least.
    /// - Throws: `TLSError` when the connection is broken, or after `closeNotify()`.
    package func write(_ plaintext: Span<UInt8>) throws(TLSError) {
        if let failure { throw failure }
        precondition(isEstablished, "write before the TLS handshake is complete")
        guard !isClosing else { throw TLSError(.closed, "the TLS connection was closed on this side") }
        guard !plaintext.isEmpty else { return }
        Self.clearForeignErrors()
        var count = 0
        let result = plaintext.withUnsafeBytes { SSL_write_ex(session, $0.baseAddress, $0.count, &count) }
        guard result != 1 else { return }
        try check(SSL_get_error(session, result))
        // Our BIO takes all bytes and renegotiation is off, so OpenSSL never has to wait.
        throw fail(TLSError(.library, "OpenSSL did not take the plaintext"))
    }

    /// How many bytes of ciphertext wait to be sent.
    package var pendingCiphertext: Int { transport.pointee.outbound.count }

    /// Lends all ciphertext that waits, also several records at once, and drops the bytes that went out.
    ///
    /// - Parameter body: Sends the bytes and returns how many went out; they must not escape, and the session
    ///   must not be used within.
    /// - Throws: What `body` throws; nothing is dropped then.
    package func withPendingCiphertext<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        try transport.pointee.outbound.lend(body)
    }

    /// Tells the peer that we will send no more (close_notify). Bytes of the peer can still be read.
    package func closeNotify() {
        guard isEstablished, !isClosing, failure == nil else { return }
        isClosing = true
        // The result says only whether the peer's notice has come already.
        SSL_shutdown(session)
        ERR_clear_error()
    }

    /// The application protocol that both sides agreed on (ALPN), nil for none or before the handshake.
    package var negotiatedProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &bytes, &count)
        guard let bytes, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    /// The protocol version in OpenSSL's words, `TLSv1.3` or `TLSv1.2`.
    package var protocolVersion: String { String(cString: SSL_get_version(session)) }

    /// The subject of the peer's certificate, RFC 2253 form (`CN=…,O=…`), nil when it showed none.
    package var peerCertificateSubject: String? {
        guard let certificate = SSL_get0_peer_certificate(session) else { return nil }
        return Certificate.text(of: X509_get_subject_name(certificate))
    }

    /// Sets the name that is sent (SNI) and that the certificate must be for (RFC 9525).
    private func verify(_ serverName: String) throws(TLSError) {
        // OpenSSL would read the name up to a zero byte only.
        guard !serverName.isEmpty, !serverName.utf8.contains(0) else {
            throw TLSError(.invalidName, "a server name must be a host name or an address")
        }
        ERR_clear_error()
        let parameters = SSL_get0_param(session)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName) == 1 { return }
        ERR_clear_error()
        // Wildcards stand for a whole label, and the subject's common name counts for nothing.
        let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
        X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
        // Only the resolver uses a trailing dot. Names in certificates and in SNI have none (RFC 6066, 3).
        let name = serverName.hasSuffix(".") ? String(serverName.dropLast()) : serverName
        guard X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1, copenssl_set_server_name(session, name) == 1 else {
            throw .fromQueue(.invalidName, "“\(serverName)” cannot be the name of a server")
        }
    }

    /// Empties the thread's error queue if other code left an error there. SSL_get_error(3) would take it for ours.
    ///
    /// It looks first, because clearing took a twentieth of the time of a small record.
    private static func clearForeignErrors() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    private func check(_ error: Int32) throws(TLSError) {
        if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return }
        throw fail(.ofSession(session))
    }

    private func fail(_ error: TLSError) -> TLSError {
        failure = error
        return error
    }
}
