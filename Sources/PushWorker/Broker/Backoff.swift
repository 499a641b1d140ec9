internal import EventLoop

/// Exponential backoff with jitter: each wait is drawn uniformly from nothing to a bound that doubles up to a cap.
///
/// A success counts only once it has lasted for a while (`ended(after:)`), so that what comes and dies at once is not
/// asked for again at full speed. Randomness comes in, so that an hour of reconnecting is a table in a test.
package struct Backoff: Sendable {
    /// How long a success must last for the waits to begin anew.
    package static let probation = Duration.seconds(10)

    /// The first bound.
    package let base: Duration
    /// The largest bound; the larger one while this worker is late.
    package var cap: Duration { isLate ? lateCap : usualCap }
    private let usualCap: Duration
    private let lateCap: Duration
    /// Whether waits at the cap are drawn from its last quarter, but for the first one.
    private let isSteady: Bool
    /// Whether this worker is one of the few that come back late from this outage.
    private var isLate = false
    /// How many waits were drawn since the last success.
    package private(set) var failures = 0

    /// Creates a backoff that starts at `base` and never draws a wait longer than `cap`.
    ///
    /// - Parameters:
    ///   - base: The first bound.
    ///   - cap: The largest bound.
    package init(base: Duration, cap: Duration) {
        self.init(base: base, cap: cap, lateCap: cap, isSteady: false)
    }

    private init(base: Duration, cap: Duration, lateCap: Duration, isSteady: Bool) {
        self.base = base
        usualCap = cap
        self.lateCap = lateCap
        self.isSteady = isSteady
    }

    /// Reconnecting to the broker: 0.5 to 4 seconds, and up to 24 for a worker that is late (`OutageDraw`).
    ///
    /// The cap brings a single worker back within four seconds of its broker's return. The few late workers draw a
    /// fleet's return out over more than ten. The first wait at the cap gives each worker a time of its own; later
    /// waits are nearly equal, so that the others come back evenly over the four seconds: where each wait is drawn from
    /// all of the bound, half of them come in the first second.
    package static var broker: Backoff {
        Backoff(base: .milliseconds(500), cap: .seconds(4), lateCap: .seconds(24), isSteady: true)
    }
    /// Asking again for a queue that is missing or that we may not read: 1 to 15 seconds.
    package static var queue: Backoff { Backoff(base: .seconds(1), cap: .seconds(15)) }
    /// Publishing again after a refusal or a return, and opening a publish channel again: 0.1 to 4 seconds.
    package static var publication: Backoff { Backoff(base: .milliseconds(100), cap: .seconds(4)) }

    /// Draws the next wait, never shorter than a twentieth of the bound so that a zero does not spin.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let bound = bound(after: failures)
        let wasAtCap = failures > 0 && self.bound(after: failures - 1) == cap
        failures += 1
        let least = isSteady && wasAtCap ? bound / 4 * 3 : bound / 20
        return .random(in: least...bound, using: &random)
    }

    private func bound(after failures: Int) -> Duration { min(cap, base * (1 << min(failures, 20))) }

    /// What had succeeded is over: the waits begin anew if it lasted.
    ///
    /// - Parameter lifetime: How long it lasted.
    package mutating func ended(after lifetime: Duration) {
        if lifetime >= Self.probation { failures = 0 }
    }

    /// Many others lost the same at the same time: the next wait is drawn from the largest bound.
    package mutating func crowded() {
        // No further: the first wait at the cap is the one that is drawn from all of it.
        failures = 0
        while failures < 20, bound(after: failures) < cap { failures += 1 }
    }

    /// A connection that everybody may have lost is gone: the waits begin anew if it lasted.
    ///
    /// - Parameters:
    ///   - lifetime: How long it lasted.
    ///   - isCrowd: Whether the broker closed it, and with it surely those of all others.
    ///   - isLate: Whether this worker is one of the few that come back late from this outage, see `OutageDraw`.
    package mutating func lost(after lifetime: Duration, isCrowd: Bool, isLate: Bool) {
        self.isLate = isLate
        ended(after: lifetime)
        if isCrowd { crowded() }
    }
}
