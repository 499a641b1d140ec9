/// A signed provider token, ready to be sent.
package struct ProviderToken: Sendable, Equatable {
    /// The value of the `authorization` header: `bearer` and the JSON web token. Secret.
    package let header: [UInt8]
    /// The number of the token, from 1. Each source counts the tokens that it makes.
    package let generation: Int
    /// When it was made, in seconds since 1970.
    package let issuedAt: Int64
}
