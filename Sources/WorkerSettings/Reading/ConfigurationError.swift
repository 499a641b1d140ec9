/// One thing that is wrong with the configuration.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it was written.
    package let origin: ConfigurationOrigin
    /// What is wrong and what would be right; never a secret.
    package let message: String

    /// `file:line:column: message`.
    package var description: String { "\(origin): \(message)" }
}
