/// How a credential is doing, for metrics.
package struct CredentialStatus: Sendable, Equatable {
    /// Its name in the configuration.
    package var name: String
    /// The number of its version, which counts how often its files were read with a new content; 0 while they never could
    /// be used.
    package var version: Int
    /// When it ends, in seconds since 1970; nil for a key, which does not.
    package var notAfter: Int64?
}
