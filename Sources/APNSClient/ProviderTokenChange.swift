/// When a connection changes its provider token.
enum ProviderTokenChange {
    /// The youngest age of a token at which a connection lets it go, in seconds.
    static let youngest: Int64 = 50 * 60
    /// The oldest.
    static let oldest: Int64 = 55 * 60

    /// How long a connection keeps a token it takes now.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - wallSeconds: seconds since 1970.
    ///   - random: spreads the changes of many connections over five minutes.
    /// - Returns: at least a second.
    static func delay(
        of token: ProviderToken, wallSeconds: Int64, random: inout some RandomNumberGenerator
    ) -> Duration {
        let age = max(0, wallSeconds - token.issuedAt)
        let target = Int64.random(in: youngest...oldest, using: &random)
        return .seconds(max(1, target - age))
    }
}
