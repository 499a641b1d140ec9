internal import COpenSSL
internal import Glibc

/// What a read of plaintext gave.
package enum TLSReadResult: Equatable, Sendable {
    /// This many bytes, at the buffer's beginning.
    case bytes(Int)
    /// Nothing until more ciphertext arrives.
    case needsInput
    /// The peer said that it sends no more (close_notify).
    case closed
}

/// One TLS connection without a socket: ciphertext goes in and out through memory.
///
/// One thread at a time; it may be handed from a helper thread to a lane after the handshake. OpenSSL owns both BIOs.
package final class TLSSession {
    private let session: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// Bytes at the beginning of `outgoing` that were sent but are still in it.
    private var sent = 0
    /// Keeps the context's ALPN callback alive.
    private let context: TLSContext

    private init(_ context: TLSContext) throws(TLSError) {
        guard let session = SSL_new(context.pointer) else { throw .last(.library, "SSL_new") }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(session)
            throw .last(.library, "BIO_new")
        }
        copenssl_set_retry_on_empty(incoming)
        copenssl_set_retry_on_empty(outgoing)
        SSL_set_bio(session, incoming, outgoing)
        self.session = session
        self.incoming = incoming
        self.outgoing = outgoing
        self.context = context
    }

    deinit { SSL_free(session) }

    /// The connecting side; the certificate must be for `serverName`, a host name or an IP address.
    package convenience init(client context: TLSContext, serverName: String) throws(TLSError) {
        try self.init(context)
        SSL_set_connect_state(session)
        let parameters = SSL_get0_param(session)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName) != 1 {
            ERR_clear_error()
            // Server names are never addresses (RFC 6066, 3), hence only here.
            guard copenssl_set_server_name(session, serverName) == 1, SSL_set1_host(session, serverName) == 1 else {
                throw .last(.library, "the server name \(serverName) cannot be checked")
            }
        }
    }

    /// The accepting side.
    package convenience init(server context: TLSContext) throws(TLSError) {
        try self.init(context)
        SSL_set_accept_state(session)
    }

    /// Takes ciphertext from the network; it is copied.
    package func receive(_ ciphertext: Span<UInt8>) {
        ciphertext.withUnsafeBytes { bytes in
            guard bytes.count > 0 else { return }
            // A memory BIO takes everything.
            _ = BIO_write(incoming, bytes.baseAddress, Int32(clamping: bytes.count))
        }
    }

    /// Goes on with the handshake as far as the ciphertext received so far allows.
    ///
    /// - Returns: True once it is complete.
    /// - Throws: `TLSError`, with code `untrusted` when the peer's certificate is refused; an alert may be pending then.
    package func handshake() throws(TLSError) -> Bool {
        ERR_clear_error()
        let status = SSL_do_handshake(session)
        if status == 1 { return true }
        let error = SSL_get_error(session, status)
        if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return false }
        let verification = SSL_get_verify_result(session)
        if verification != Int(X509_V_OK) {
            ERR_clear_error()
            throw TLSError(.untrusted, "certificate refused: \(String(cString: X509_verify_cert_error_string(verification)))")
        }
        throw .last(.protocolFailure, "TLS handshake")
    }

    /// Decrypts into the beginning of the buffer.
    ///
    /// - Throws: `TLSError` when the connection must be dropped.
    package func read(into plaintext: inout [UInt8]) throws(TLSError) -> TLSReadResult {
        ERR_clear_error()
        let count = plaintext.withUnsafeMutableBytes { SSL_read(session, $0.baseAddress, Int32(clamping: $0.count)) }
        if count > 0 { return .bytes(Int(count)) }
        switch SSL_get_error(session, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: throw .last(.protocolFailure, "TLS read")
        }
    }

    /// Encrypts everything, in records of at most 16 KiB.
    package func write(_ plaintext: Span<UInt8>) throws(TLSError) {
        var offset = 0
        while offset < plaintext.count {
            ERR_clear_error()
            let rest = plaintext.extracting(offset..<plaintext.count)
            let count = rest.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32(clamping: $0.count)) }
            // A memory BIO never blocks, so anything but progress is a failure.
            guard count > 0 else { throw .last(.protocolFailure, "TLS write") }
            offset += Int(count)
        }
    }

    /// How many bytes wait to be sent.
    package var pendingCiphertext: Int { Int(copenssl_pending(outgoing)) - sent }

    /// Lends everything that waits to be sent; the span must not escape.
    ///
    /// - Parameter body: Says how many bytes it took; they are not lent again.
    package func withPendingCiphertext(_ body: (Span<UInt8>) throws -> Int) rethrows {
        var data: UnsafeMutablePointer<CChar>?
        let count = copenssl_memory(outgoing, &data)
        guard let data, count > sent else { return }
        let bytes = UnsafeRawBufferPointer(start: data + sent, count: count - sent)
        sent += try body(bytes.bindMemory(to: UInt8.self).span)
        // Emptied only when all is out: dropping the front of a memory BIO would move the rest each time.
        if sent == count {
            _ = copenssl_reset(outgoing)
            sent = 0
        }
    }

    /// Says that no more will be sent; the ciphertext for it is then pending.
    package func closeNotify() {
        ERR_clear_error()
        _ = SSL_shutdown(session)
        ERR_clear_error()
    }

    /// The protocol both sides chose with ALPN, for instance `h2`.
    package var negotiatedProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(session, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// For instance `TLSv1.3`.
    package var protocolVersion: String { String(cString: SSL_get_version(session)) }

    /// The subject of the certificate the peer showed.
    package var peerCertificateSubject: String? {
        SSL_get1_peer_certificate(session).map { Certificate(takingOwnership: $0).subject }
    }
}
