import EventLoop

/// The longest duration of the last one to two minutes. So the next scrape sees a peak that lay between two scrapes.
///
/// Pure: time comes in.
struct RecentMaximum {
    /// The shortest time for which a value counts. The longest is twice as long.
    static let window = Duration.seconds(60)

    private var current = Duration.zero
    private var previous = Duration.zero
    /// When the current window began.
    private var began = MonotonicTime(nanoseconds: 0)

    /// Notes a value.
    mutating func note(_ value: Duration, now: MonotonicTime) {
        turnOver(now: now)
        current = max(current, value)
    }

    /// The longest recent duration; zero without one.
    mutating func value(now: MonotonicTime) -> Duration {
        turnOver(now: now)
        return max(current, previous)
    }

    private mutating func turnOver(now: MonotonicTime) {
        let age = now - began
        guard age >= Self.window else { return }
        previous = age < Self.window * 2 ? current : .zero
        current = .zero
        began = now
    }
}
