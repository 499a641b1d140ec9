/// Spreads sends evenly over time: a pure value, the present is always given.
struct Pacer {
    /// Nanoseconds between two sends.
    private let interval: Double
    /// When the next send is due, in nanoseconds of any steady clock.
    private var due: Double?

    /// Makes a pacer.
    /// - Parameter rate: Sends per second, positive.
    init(rate: Double) {
        interval = 1e9 / rate
    }

    /// Counts one send.
    /// - Parameter now: Nanoseconds of a steady clock.
    /// - Returns: How many nanoseconds to wait before it.
    mutating func wait(now: UInt64) -> UInt64 {
        let now = Double(now)
        // What was missed is made up for a tenth of a second only: a pause must not become a flood.
        let next = max(due ?? now, now - 1e8)
        due = next + interval
        return next > now ? UInt64(next - now) : 0
    }
}
