/// A provider token key (`.p8`) with its identifier and its team's.
///
/// See Apple, "Establishing a token-based connection":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>
package struct TokenCredentialConfiguration: Sendable, Equatable {
    /// The name that routes use.
    package var name: String
    /// The path of the `.p8` file. The worker may start while the file is unreadable.
    package var keyFile: String
    /// Apple's ten-character key identifier.
    package var keyID: String
    /// Apple's ten-character team identifier.
    package var teamID: String
}
