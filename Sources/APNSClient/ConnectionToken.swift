import EventLoop

/// The provider token of one connection: which one it sends, and when it takes a newer one.
///
/// APNs counts the time between changes from the first use of a token, so a token is taken only when it is used.
struct ConnectionToken {
    /// After how long a newer token is asked for again, if signing failed.
    private static let retry = Duration.seconds(60)

    /// The token for the next request; nil with a certificate.
    private(set) var held: ProviderToken?
    /// From when on the next request takes a newer token.
    private var due: MonotonicTime
    private let source: ProviderTokenSource?

    /// The token that a new connection begins with. The first request takes the newest one.
    ///
    /// - Parameters:
    ///   - credential: The credential of the connection.
    ///   - wallSeconds: Seconds since 1970.
    /// - Throws: `APNSClientError` when signing fails.
    init(of credential: APNSCredential, wallSeconds: Int64) throws(APNSClientError) {
        source = credential.tokens
        held = try source?.current(wallSeconds: wallSeconds)
        due = source == nil ? .distantFuture : MonotonicTime(nanoseconds: 0)
    }

    /// Whether the next request takes a newer token.
    func isDue(now: MonotonicTime) -> Bool { now >= due }

    /// Takes the newest token, and keeps it until it is old enough. If signing fails, the present token stays for 60
    /// seconds.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - wallSeconds: Seconds since 1970.
    ///   - random: Spreads the changes of many connections.
    /// - Throws: `APNSClientError` when signing fails.
    mutating func change(
        now: MonotonicTime, wallSeconds: Int64, random: inout some RandomNumberGenerator
    ) throws(APNSClientError) {
        guard let source else { return }
        due = now + Self.retry
        let token = try source.current(wallSeconds: wallSeconds)
        let delay = ProviderTokenChange.delay(of: token, wallSeconds: wallSeconds, random: &random)
        use(token, until: now + delay)
    }

    /// Sends this token from now on, until a request after `due` takes a newer one.
    mutating func use(_ token: ProviderToken, until due: MonotonicTime) {
        held = token
        self.due = due
    }

    /// APNs called the token expired. The source makes one new token for all connections that report this token. New
    /// connections take the new token.
    ///
    /// - Parameter wallSeconds: Seconds since 1970.
    /// - Returns: The number of the expired token; nil if there is no newer one.
    func replaceExpired(wallSeconds: Int64) -> Int? {
        guard let source, let held else { return nil }
        // If signing fails, the next connection fails in `init` and says so.
        let token = try? source.refresh(after: held.generation, wallSeconds: wallSeconds)
        guard let token, token.generation > held.generation else { return nil }
        return held.generation
    }
}
