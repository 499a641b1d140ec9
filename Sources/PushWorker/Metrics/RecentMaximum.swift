/// The largest value of the last one to two minutes, so that a peak between two scrapes is seen by the next one.
///
/// Pure: time comes in.
struct RecentMaximum {
    /// How long a value counts at least, in nanoseconds; it counts twice as long at most.
    static let window: UInt64 = 60_000_000_000

    private var current: UInt64 = 0
    private var previous: UInt64 = 0
    /// When the current window began.
    private var began: UInt64 = 0

    /// Notes a value.
    mutating func note(_ value: UInt64, now: UInt64) {
        turnOver(now: now)
        current = max(current, value)
    }

    /// The largest of late; 0 where there was none.
    mutating func value(now: UInt64) -> UInt64 {
        turnOver(now: now)
        return max(current, previous)
    }

    private mutating func turnOver(now: UInt64) {
        let age = now - min(now, began)
        guard age >= Self.window else { return }
        previous = age < 2 * Self.window ? current : 0
        current = 0
        began = now
    }
}
