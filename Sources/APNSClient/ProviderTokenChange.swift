/// When a connection changes its provider token.
enum ProviderTokenChange {
    /// The least age at which a connection changes its token, in seconds.
    static let youngest: Int64 = 50 * 60
    /// The greatest age at which a connection changes its token, in seconds.
    static let oldest: Int64 = 55 * 60

    /// How long a connection keeps a token that it takes now.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - wallSeconds: Seconds since 1970.
    ///   - random: Spreads the changes of many connections over five minutes.
    /// - Returns: A duration of at least a second.
    static func delay(
        of token: ProviderToken, wallSeconds: Int64, random: inout some RandomNumberGenerator
    ) -> Duration {
        let age = max(0, wallSeconds - token.issuedAt)
        let target = Int64.random(in: youngest...oldest, using: &random)
        return .seconds(max(1, target - age))
    }
}
