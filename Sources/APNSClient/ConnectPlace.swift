package import EventLoop

/// A connect's place in the line of connects that wait for the pace. The connect leaves the line when the last
/// reference to its place is dropped.
package final class ConnectPlace: Sendable {
    private let limiter: ConnectRateLimiter
    private let number: Int

    /// A place with its number in the line.
    init(limiter: ConnectRateLimiter, number: Int) {
        self.limiter = limiter
        self.number = number
    }

    deinit { limiter.leave(number) }

    /// Asks whether the connect may begin.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - random: Keeps connects that wait from starting together.
    /// - Returns: After how long to ask again; zero if the connect begins now and its place is used up.
    package func ask(now: MonotonicTime, random: inout some RandomNumberGenerator) -> Duration {
        limiter.ask(number, now: now, random: &random)
    }

    /// The connect has become more urgent.
    ///
    /// - Parameter urgency: How much the connect is needed.
    /// - Returns: Whether the connect was less urgent before. It should then ask again.
    package func raise(to urgency: ConnectUrgency) -> Bool { limiter.raise(number, to: urgency) }
}
