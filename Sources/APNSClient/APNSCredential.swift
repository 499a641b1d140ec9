package import TLS

/// One version of what identifies us to APNs: a provider token key, or a client certificate. Safe on any thread.
///
/// A pool never mixes versions on one connection: what APNs binds a connection to at its first push stays true.
package final class APNSCredential: Sendable {
    /// The name in the configuration.
    package let name: String
    /// The number of the version, from 1; a later one replaces an earlier.
    package let version: Int
    /// What to call it in logs: identifiers and dates, no secret.
    package let label: String
    /// Makes provider tokens; nil for a certificate.
    package let tokens: ProviderTokenSource?
    /// Opens TLS connections, and shows the certificate where there is one.
    package let context: TLSContext
    /// When it can be used, in seconds since 1970; nil for always.
    package let validity: ClosedRange<Int64>?
    /// The only topic of a certificate, which need not be said in each request; nil where there are several.
    package let onlyTopic: [UInt8]?

    /// A version from its parts.
    ///
    /// - Parameters:
    ///   - name: the name in the configuration.
    ///   - version: its number, from 1.
    ///   - label: what to call it in logs; no secret.
    ///   - context: a client context that offers `h2`, with the certificate as its identity where there is one.
    ///   - tokens: makes provider tokens; nil for a certificate.
    ///   - validity: when it can be used, in seconds since 1970; nil for always.
    ///   - onlyTopic: the only topic of a certificate.
    package init(
        name: String, version: Int = 1, label: String = "", context: TLSContext, tokens: ProviderTokenSource? = nil,
        validity: ClosedRange<Int64>? = nil, onlyTopic: String? = nil
    ) {
        self.name = name
        self.version = version
        self.label = label
        self.context = context
        self.tokens = tokens
        self.validity = validity
        self.onlyTopic = onlyTopic.map { Array($0.utf8) }
    }
}
