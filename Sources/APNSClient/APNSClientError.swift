package import PushModel

/// Why a connection to APNs could not be made or kept. Holds no token, no payload and no key.
package struct APNSClientError: Error, Sendable, CustomStringConvertible {
    /// The kind of an `APNSClientError`. Open, so that new kinds break no switch.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, for logs and metrics.
        package let description: String

        /// The configured address cannot be used.
        package static let badAddress = Code(description: "badAddress")
        /// No address of the host could be connected to, or its name has none.
        package static let unreachable = Code(description: "unreachable")
        /// The server's certificate is not trusted, expired, or for another name.
        package static let untrusted = Code(description: "untrusted")
        /// The server refuses our certificate or provider token.
        package static let credentialRefused = Code(description: "credentialRefused")
        /// TLS failed for another reason.
        package static let tls = Code(description: "tls")
        /// The server does not speak HTTP/2, or broke its rules.
        package static let http2 = Code(description: "http2")
        /// An established connection broke.
        package static let connectionLost = Code(description: "connectionLost")
        /// The time allowed ran out.
        package static let timedOut = Code(description: "timedOut")
        /// The proxy failed, or could not reach the server.
        package static let proxy = Code(description: "proxy")
        /// The proxy refuses us: user and password are missing or wrong, or the server is not allowed.
        package static let proxyDenied = Code(description: "proxyDenied")
        /// The provider token could not be signed.
        package static let signing = Code(description: "signing")
    }

    /// The kind of failure.
    package let code: Code
    /// What failed and why, for a person.
    package let message: String
    /// Which routes a refusal of our credential concerns. A refused certificate concerns every route.
    package let refusalScope: CredentialVerdict.RefusalScope

    /// An error from its parts.
    ///
    /// - Parameters:
    ///   - code: The kind.
    ///   - message: What failed and why; no secrets.
    ///   - refusalScope: Which routes a refusal of our credential concerns.
    package init(
        _ code: Code, _ message: String, refusalScope: CredentialVerdict.RefusalScope = .everyRoute
    ) {
        self.code = code
        self.refusalScope = refusalScope
        self.message = message
    }

    /// Whether a later try may succeed although nobody has corrected anything.
    package var isRetriable: Bool {
        code != .badAddress && code != .untrusted && code != .signing && code != .credentialRefused
            && code != .proxyDenied
    }

    package var description: String { "\(message) (\(code))" }
}
