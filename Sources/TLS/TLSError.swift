internal import COpenSSL

/// Why a certificate, a key or a TLS connection could not be used. Never holds key material.
package struct TLSError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    package struct Code: Hashable, Sendable {
        private let name: String
        private init(_ name: String) { self.name = name }

        /// A file is missing, unreadable, or not what it should be.
        package static let badFile = Code("badFile")
        /// A key is of the wrong kind, or does not belong to its certificate.
        package static let badKey = Code("badKey")
        /// The peer's certificate is not trusted, expired, or for another name.
        package static let untrusted = Code("untrusted")
        /// The handshake or the connection broke the protocol, or the peer sent an alert.
        package static let protocolFailure = Code("protocolFailure")
        /// OpenSSL failed where it never should, for instance without memory.
        package static let library = Code("library")
    }

    /// What kind of failure it was.
    package let code: Code
    /// What failed and why, for people.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether trying again later may help without anybody mending anything.
    package var isRetriable: Bool { code == .protocolFailure }

    package var description: String { message }

    /// An error with what OpenSSL's queue says about the call just made; empties the queue.
    static func last(_ code: Code, _ what: String) -> TLSError {
        var reasons: [String] = []
        while case let number = ERR_get_error(), number != 0 {
            let reason = ERR_reason_error_string(number).map { String(cString: $0) } ?? "error \(number)"
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        return TLSError(code, reasons.isEmpty ? what : "\(what): \(reasons.joined(separator: "; "))")
    }
}

/// Facts about the library underneath.
package enum TLSLibrary {
    /// For instance `OpenSSL 3.0.22 10 Jun 2026`.
    package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}
