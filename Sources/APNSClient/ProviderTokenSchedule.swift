/// Decides when a provider token is replaced by a new one. Pure: wall-clock seconds come in.
///
/// Apple wants tokens to be no older than an hour, and a connection to change its token at most once in 20 minutes
/// (<https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>).
/// A new token is made every 30 minutes. A connection changes its token when the token is 50 to 55 minutes old. Every
/// connection then keeps both rules, no matter when it was opened.
struct ProviderTokenSchedule: Sendable {
    /// The age at which a new token is made, in seconds.
    static let lifetime: Int64 = 30 * 60
    /// The least age, in seconds, at which a token that APNs calls expired is replaced. If APNs calls a younger token
    /// expired, a clock is wrong. A new token does not help then.
    static let expiredLifetime: Int64 = 60
    /// How far in the future a token may seem to be made, in seconds. Beyond that, the clock must have been set back,
    /// and a new token is made.
    static let clockTolerance: Int64 = 300

    /// Why a new token is wanted.
    enum Request: Sendable {
        /// A connection opens, or its token grew old.
        case current
        /// APNs called the token of this generation expired.
        case expired(generation: Int)
    }

    /// The number of the present token, from 1; 0 before the first token.
    private(set) var generation = 0
    /// When the present token was made, in seconds since 1970.
    private(set) var issuedAt: Int64 = 0

    /// Whether a new token must be made for this request.
    ///
    /// If many connections report the same generation, only the first report leads to a new token.
    func needsNew(for request: Request, now: Int64) -> Bool {
        guard generation > 0 else { return true }
        let age = now - issuedAt
        if age >= Self.lifetime || age < -Self.clockTolerance { return true }
        switch request {
        case .current: return false
        case .expired(let expired): return expired >= generation && age >= Self.expiredLifetime
        }
    }

    /// Notes that a new token was made.
    mutating func issued(now: Int64) {
        generation += 1
        issuedAt = now
    }
}
