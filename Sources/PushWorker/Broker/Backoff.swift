/// Full-jitter exponential backoff: each wait is drawn uniformly from zero to a bound that doubles up to a cap.
///
/// Randomness comes in, so that an hour of reconnecting is a table in a test.
package struct Backoff: Sendable {
    /// The first bound, in nanoseconds.
    package let base: UInt64
    /// The largest bound, in nanoseconds.
    package let cap: UInt64
    /// How many waits were drawn since the last success.
    package private(set) var failures = 0

    /// Creates a backoff that starts at `base` and never waits longer than `cap`.
    package init(base: Duration, cap: Duration) {
        self.base = base.wholeNanoseconds
        self.cap = cap.wholeNanoseconds
    }

    /// Reconnecting to the broker: 0.5 to 4 seconds.
    package static var broker: Backoff { Backoff(base: .milliseconds(500), cap: .seconds(4)) }
    /// Asking again for a queue that is missing or that we may not read: 1 to 15 seconds.
    package static var queue: Backoff { Backoff(base: .seconds(1), cap: .seconds(15)) }
    /// Publishing again after a refusal or a return: 0.1 to 4 seconds.
    package static var publication: Backoff { Backoff(base: .milliseconds(100), cap: .seconds(4)) }

    /// Draws the next wait in nanoseconds, never shorter than a fifth of the bound so that a zero does not spin.
    package mutating func next(using random: inout some RandomNumberGenerator) -> UInt64 {
        let bound = min(cap, base << UInt64(min(failures, 20)))
        failures += 1
        return UInt64.random(in: bound / 5...bound, using: &random)
    }

    /// Starts over after a success.
    package mutating func succeeded() { failures = 0 }
}

extension Duration {
    /// The duration in whole nanoseconds; negative durations count as zero.
    package var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return seconds < 0 ? 0 : UInt64(seconds) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}
