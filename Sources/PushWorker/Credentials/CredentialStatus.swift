/// How a credential is doing, for metrics.
package struct CredentialStatus: Sendable, Equatable {
    /// Its name in the configuration.
    package var name: String
    /// The number of its version: how often its files were read with new content. 0 until they could be used for the
    /// first time.
    package var version: Int
    /// When it ends, in seconds since 1970; nil for a key, which has no end.
    package var notAfter: Int64?
}
