import COpenSSL

/// What went wrong with a TLS connection, a certificate or a key.
package struct TLSError: Error, Sendable, CustomStringConvertible {
    /// The kind of a `TLSError`; open, so that new kinds break no switch.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, for logs.
        package let description: String

        /// A file cannot be read.
        package static let fileUnreadable = Code(description: "fileUnreadable")
        /// A certificate is missing, damaged, or not usable for what it is meant for.
        package static let invalidCertificate = Code(description: "invalidCertificate")
        /// A key is missing, damaged, encrypted, of the wrong kind, or not the certificate's.
        package static let invalidKey = Code(description: "invalidKey")
        /// A host name or address cannot be checked against a certificate.
        package static let invalidName = Code(description: "invalidName")
        /// The peer's certificate comes from an authority that is not trusted, or its chain is broken.
        package static let certificateUntrusted = Code(description: "certificateUntrusted")
        /// The peer's certificate, or one above it, is not valid at present.
        package static let certificateExpired = Code(description: "certificateExpired")
        /// The peer's certificate is for another host.
        package static let hostNameMismatch = Code(description: "hostNameMismatch")
        /// The peer speaks no TLS version from 1.2 on. OpenSSL reports many answers that are not TLS as a wrong
        /// version, too.
        package static let protocolVersion = Code(description: "protocolVersion")
        /// Both sides have no application protocol (ALPN) in common.
        package static let applicationProtocol = Code(description: "applicationProtocol")
        /// The peer refused the certificate we showed, or that we showed none.
        package static let certificateRefused = Code(description: "certificateRefused")
        /// The peer ended the connection with another alert.
        package static let peerAlert = Code(description: "peerAlert")
        /// The peer broke the rules of the protocol, or the bytes are not TLS.
        package static let protocolViolation = Code(description: "protocolViolation")
        /// The connection was closed before the handshake, read or write was complete.
        package static let closed = Code(description: "closed")
        /// OpenSSL failed for reasons of its own, for example without memory left.
        package static let library = Code(description: "library")
    }

    /// The kind of error.
    package var code: Code
    /// What was tried and why it failed, for a person; holds no key and no password.
    package var message: String
    /// Whether the same call may succeed later without anything being changed.
    package var isRetriable: Bool

    /// `message` and the kind.
    package var description: String { "\(message) (\(code))" }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind.
    ///   - message: What was tried and why it failed.
    ///   - isRetriable: Whether the same call may succeed later.
    init(_ code: Code, _ message: String, isRetriable: Bool = false) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
    }

    /// Makes an error about a file that another module could not read.
    ///
    /// - Parameters:
    ///   - file: The file's path.
    ///   - reason: Why, in the system's words.
    package init(unreadable file: String, because reason: String) {
        self.init(.fileUnreadable, "cannot read \(file): \(reason)")
    }

    /// Makes an error from the calling thread's OpenSSL error queue, which is emptied.
    ///
    /// - Parameters:
    ///   - code: The kind.
    ///   - what: What was tried.
    /// - Returns: The error, with OpenSSL's own words.
    static func fromQueue(_ code: Code, _ what: String) -> TLSError {
        let number = ERR_peek_last_error()
        ERR_clear_error()
        guard number != 0 else { return TLSError(code, what) }
        return TLSError(code, "\(what): \(reason(of: number))")
    }

    /// Makes an error from the failure of a handshake, a read or a write; empties the thread's error queue.
    ///
    /// - Parameter session: The failed SSL object.
    /// - Returns: The error.
    static func ofSession(_ session: OpaquePointer) -> TLSError {
        // The first entry is the cause. Later entries name the callers.
        let number = ERR_peek_error()
        ERR_clear_error()
        guard number != 0 else { return TLSError(.closed, "the TLS connection is closed", isRetriable: true) }
        guard ERR_GET_LIB(number) == ERR_LIB_SSL else { return TLSError(.library, "TLS: \(reason(of: number))") }
        let reasonCode = ERR_GET_REASON(number)
        switch reasonCode {
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return ofVerification(SSL_get_verify_result(session))
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW, SSL_R_WRONG_VERSION_NUMBER,
            SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
            return TLSError(.protocolVersion, "no TLS version in common with the peer: \(reason(of: number))")
        case SSL_R_NO_APPLICATION_PROTOCOL, SSL_AD_REASON_OFFSET + SSL_AD_NO_APPLICATION_PROTOCOL:
            return TLSError(.applicationProtocol, "no application protocol in common with the peer")
        case _ where certificateAlerts.contains(reasonCode - SSL_AD_REASON_OFFSET):
            return TLSError(.certificateRefused, "the peer refused our certificate: \(reason(of: number))")
        case SSL_AD_REASON_OFFSET..<(SSL_AD_REASON_OFFSET + 256):
            let isRetriable = reasonCode == SSL_AD_REASON_OFFSET + SSL_AD_INTERNAL_ERROR
            return TLSError(.peerAlert, "the peer refused: \(reason(of: number))", isRetriable: isRetriable)
        default:
            return TLSError(.protocolViolation, "TLS: \(reason(of: number))", isRetriable: true)
        }
    }

    /// The alerts about the certificate of the side that receives them (RFC 8446, 6.2).
    private static let certificateAlerts: Set<Int32> = [
        SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED,
        SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA, SSL_AD_ACCESS_DENIED, SSL_AD_CERTIFICATE_REQUIRED,
    ]

    private static func ofVerification(_ result: Int) -> TLSError {
        let text = "the peer's certificate is refused: " + String(cString: X509_verify_cert_error_string(result))
        switch Int32(truncatingIfNeeded: result) {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return TLSError(.hostNameMismatch, text)
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: return TLSError(.certificateExpired, text)
        default: return TLSError(.certificateUntrusted, text)
        }
    }

    private static func reason(of number: UInt) -> String {
        guard let text = ERR_reason_error_string(number) else { return "OpenSSL error \(number)" }
        return String(cString: text)
    }
}
