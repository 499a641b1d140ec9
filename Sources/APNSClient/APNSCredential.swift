package import TLS

/// One version of what identifies us to APNs: a key for provider tokens, or a client certificate. Safe on any thread.
///
/// A pool never mixes versions on one connection, because APNs binds a connection to a credential at its first push.
package final class APNSCredential: Sendable {
    /// The name in the configuration.
    package let name: String
    /// The number of the version, from 1. A later version replaces an earlier one.
    package let version: Int
    /// What to call it in logs: identifiers and dates, no secret.
    package let label: String
    /// Makes provider tokens; nil for a certificate.
    package let tokens: ProviderTokenSource?
    /// Opens TLS connections, and shows the certificate if there is one.
    package let context: TLSContext
    /// When it can be used, in seconds since 1970; nil for always.
    package let validity: ClosedRange<Int64>?
    /// The only topic of a certificate, which requests may leave out; nil for a key, and if there are several topics.
    package let onlyTopic: [UInt8]?
    /// What a certificate says about itself; nil for a key.
    package let certificate: CertificateFacts?

    /// A version from its parts.
    ///
    /// - Parameters:
    ///   - name: The name in the configuration.
    ///   - version: Its number, from 1.
    ///   - label: What to call it in logs; no secret.
    ///   - context: A client context that offers `h2`, with the certificate as its identity if there is one.
    ///   - tokens: Makes provider tokens; nil for a certificate.
    ///   - validity: When it can be used, in seconds since 1970; nil for always.
    ///   - onlyTopic: The only topic of a certificate; nil for a key, and if there are several topics.
    ///   - certificate: What a certificate says about itself; nil for a key.
    package init(
        name: String, version: Int = 1, label: String = "", context: TLSContext, tokens: ProviderTokenSource? = nil,
        validity: ClosedRange<Int64>? = nil, onlyTopic: String? = nil,
        certificate: CertificateFacts? = nil
    ) {
        self.name = name
        self.version = version
        self.label = label
        self.context = context
        self.tokens = tokens
        self.validity = validity
        self.onlyTopic = onlyTopic.map { Array($0.utf8) }
        self.certificate = certificate
    }
}
