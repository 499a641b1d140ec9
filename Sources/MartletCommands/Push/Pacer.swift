import EventLoop

/// Spreads sends evenly over time: a pure value, the present is always given.
struct Pacer {
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
        interval = .seconds(1 / rate)
    }

    /// Counts one send.
    ///
    /// - Parameter now: The present.
    /// - Returns: How long to wait before it.
    mutating func wait(now: MonotonicTime) -> Duration {
        let start = start ?? now
        self.start = start
        let elapsed = now - start
        // What was missed is made up for a tenth of a second only: a pause must not become a flood.
        let next = max(due, elapsed - .milliseconds(100))
        due = next + interval
        return max(.zero, next - elapsed)
    }
}
