/// Decides when a provider token is replaced by a new one. Pure: wall-clock seconds come in.
///
/// Apple wants tokens no older than an hour and a connection to change its token at most every 20 minutes
/// (<https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>).
/// A new token is made every 30 minutes. A connection switches when its own is 50 to 55 minutes old. That keeps both
/// rules on every connection, whenever it was opened.
struct ProviderTokenSchedule: Sendable {
    /// The age at which a new token is made, in seconds.
    static let lifetime: Int64 = 30 * 60
    /// The least age, in seconds, at which a token that APNs calls expired is replaced. If a younger one is called
    /// expired, a clock is wrong, and no new token mends that.
    static let expiredLifetime: Int64 = 60
    /// If a token seems to be made further in the future than this, the clock must have been set back. In seconds.
    static let clockTolerance: Int64 = 300

    /// Why a new token is wanted.
    enum Request: Sendable {
        /// A connection opens, or its token grew old.
        case current
        /// APNs called the token of this generation expired.
        case expired(generation: Int)
    }

    /// The number of the present token, from 1; 0 without one.
    private(set) var generation = 0
    /// When the present token was made, in seconds since 1970.
    private(set) var issuedAt: Int64 = 0

    /// Whether a new token must be made for this request.
    ///
    /// If many connections report the same generation, only the first of them gets a new token made.
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
