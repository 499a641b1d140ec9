import EventLoop

// Decides which provider token a connection uses, and when it gets another.
extension APNSPool {
    /// After how long a provider token is asked for again, if a new one could not be had.
    private static let tokenRetry = Duration.seconds(60)

    /// The time of day in seconds since 1970, by which tokens are dated.
    static var wallSeconds: Int64 { WallClock.milliseconds() / 1_000 }

    /// When a connection that has a token should change it.
    func tokenDue(_ token: ProviderToken, now: MonotonicTime) -> MonotonicTime {
        now + ProviderTokenChange.delay(of: token, wallSeconds: Self.wallSeconds, random: &random)
    }

    /// Gives a connection the newest token with its first request, and again once its own is old enough.
    func changeToken(of connection: APNSConnection, now: MonotonicTime) {
        let held = connection.token
        do throws(APNSClientError) {
            guard let token = try connection.credential.tokens?.current(wallSeconds: Self.wallSeconds) else { return }
            connection.use(token, until: tokenDue(token, now: now))
        } catch {
            lastError = error
            if let held { connection.use(held, until: now + Self.tokenRetry) }
        }
    }

    /// Has a new token made, once for all answers that call the old one expired. New connections take it.
    func replaceToken(of connection: APNSConnection) {
        guard let tokens = connection.credential.tokens, let refused = connection.token else { return }
        // If signing fails, the next connection fails in `adopt` and says so.
        let token = try? tokens.refresh(after: refused.generation, wallSeconds: Self.wallSeconds)
        guard let token, token.generation > refused.generation else { return }
        retireTokens(of: connection.credential, upTo: refused.generation)
    }
}
