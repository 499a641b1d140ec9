/// Full-jitter exponential backoff: each wait is drawn uniformly from nothing to a bound that doubles up to a cap.
///
/// A success counts only once it has lasted for a while (`ended(after:)`), so that what comes and dies at once is not
/// asked for again at full speed. Randomness comes in, so that an hour of reconnecting is a table in a test.
package struct Backoff: Sendable {
    /// How long a success must last for the waits to begin anew, in nanoseconds.
    package static let probation: UInt64 = 10_000_000_000
    /// The most turns that are let pass one after the other.
    static let mostPassed = 8

    /// The first bound, in nanoseconds.
    package let base: UInt64
    /// The largest bound, in nanoseconds.
    package let cap: UInt64
    /// One turn in so many is let pass once the bound has reached the cap; 0 for none.
    private let passing: UInt64
    /// How many waits were drawn since the last success.
    package private(set) var failures = 0

    /// Creates a backoff that starts at `base` and never draws a wait longer than `cap`.
    ///
    /// - Parameters:
    ///   - base: The first bound.
    ///   - cap: The largest bound.
    ///   - passing: One turn in so many is let pass once the bound has reached the cap; 0 for none.
    package init(base: Duration, cap: Duration, passing: UInt64 = 0) {
        self.base = base.wholeNanoseconds
        self.cap = cap.wholeNanoseconds
        self.passing = passing
    }

    /// Reconnecting to the broker: 0.5 to 4 seconds, and every fourth turn at 4 seconds is let pass.
    ///
    /// The cap alone would bring every worker of a fleet back within four seconds of a broker's return. Turns let pass
    /// cost a single worker little, and draw a thousand connections out over more than ten seconds.
    package static var broker: Backoff { Backoff(base: .milliseconds(500), cap: .seconds(4), passing: 4) }
    /// Asking again for a queue that is missing or that we may not read: 1 to 15 seconds.
    package static var queue: Backoff { Backoff(base: .seconds(1), cap: .seconds(15)) }
    /// Publishing again after a refusal or a return, and opening a publish channel again: 0.1 to 4 seconds.
    package static var publication: Backoff { Backoff(base: .milliseconds(100), cap: .seconds(4)) }

    /// Draws the next wait in nanoseconds, never shorter than a twentieth of the bound so that a zero does not spin.
    package mutating func next(using random: inout some RandomNumberGenerator) -> UInt64 {
        let bound = min(cap, base << UInt64(min(failures, 20)))
        failures += 1
        var wait = UInt64.random(in: bound / 20...bound, using: &random)
        guard passing > 0, bound == cap else { return wait }
        var passed = 0
        while passed < Self.mostPassed, UInt64.random(in: 0..<passing, using: &random) == 0 {
            wait += UInt64.random(in: bound / 20...bound, using: &random)
            passed += 1
        }
        return wait
    }

    /// What had succeeded is over: the waits begin anew if it lasted.
    ///
    /// - Parameter lifetime: How long it lasted, in nanoseconds.
    package mutating func ended(after lifetime: UInt64) {
        if lifetime >= Self.probation { failures = 0 }
    }

    /// Many others lost the same at the same time: the next wait is drawn from the largest bound.
    package mutating func crowded() {
        while failures < 20, base << UInt64(failures) < cap { failures += 1 }
    }
}

extension Duration {
    /// The duration in whole nanoseconds; negative durations count as zero.
    package var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return seconds < 0 ? 0 : UInt64(seconds) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}
