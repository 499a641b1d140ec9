/// The account of provider token updates: one token must be used for a while before the next one.
///
/// A value without clock: times go in. Apple: "use a new token no more than once every 20 minutes".
/// See <https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>.
struct RefreshAccount: Equatable {
    /// What the account knows of a token. Two tokens with the same key and the same second of issue are one token here.
    struct Token: Hashable {
        /// `kid`.
        var keyID: String
        /// `iat`.
        var issuedAt: Int64

        /// Identifies a token.
        ///
        /// - Parameter facts: What the token says.
        init(_ facts: ProviderTokenFacts) {
            keyID = facts.keyID
            issuedAt = facts.issuedAt
        }
    }

    private var latest: Token?
    private var previous: Token?
    private var changedAt: Int64 = 0
    /// Whether a change was refused since the latest one that was admitted.
    private var wasRefused = false
    private var isExcused = false

    /// Starts without a token.
    init() {}

    /// Whether the token is the newest one that the account admitted. Such a token may always be used.
    ///
    /// - Parameter token: A token.
    func isLatest(_ token: Token) -> Bool { latest == token }

    /// Uses a token. The one before the latest stays good: requests with it may still be on their way.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - now: Milliseconds since 1970.
    ///   - interval: How long a token must be used before the next one, in milliseconds.
    /// - Returns: Whether it may be used.
    mutating func admit(_ token: Token, now: Int64, interval: Int64) -> Bool {
        if token == latest || token == previous { return true }
        if latest != nil, !isExcused, now - changedAt < interval {
            wasRefused = true
            return false
        }
        previous = latest
        latest = token
        changedAt = now
        wasRefused = false
        isExcused = false
        return true
    }

    /// Whether the account is overdrawn: a change came too early after the latest one, and the interval since the
    /// latest one is not over.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - interval: How long a token must be used before the next one, in milliseconds.
    func isOverdrawn(now: Int64, interval: Int64) -> Bool { wasRefused && now - changedAt < interval }

    /// Lets the next change pass at any time, because a token was answered `ExpiredProviderToken`.
    mutating func excuse() { isExcused = true }
}
