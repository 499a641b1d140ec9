import EventLoop

/// Spreads sends evenly over time. A pure value: the caller passes in the present.
struct Pacer {
    /// The slowest pace, in sends a second: one in a year. A slower one would not fit a `Duration`.
    private static let slowest = 1.0 / 31_536_000
    /// The time between two sends.
    private let interval: Duration
    /// When the first send was asked for.
    private var start: MonotonicTime?
    /// When the next send is due, counted from the first.
    private var due = Duration.zero

    /// Makes a pacer.
    ///
    /// - Parameter rate: Sends per second, positive.
    init(rate: Double) {
        interval = .seconds(1 / max(rate, Self.slowest))
    }

    /// Counts one send, and says when it may happen.
    ///
    /// - Parameter now: The present.
    /// - Returns: How long to wait before this send.
    mutating func wait(now: MonotonicTime) -> Duration {
        let start = start ?? now
        self.start = start
        let elapsed = now - start
        // Of late sends only those of the last 0.1 s are made up for: a pause must not become a flood.
        let next = max(due, elapsed - .milliseconds(100))
        due = next + interval
        return max(.zero, next - elapsed)
    }
}
