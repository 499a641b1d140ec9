import EventLoop

/// Exponential backoff with jitter: each wait is drawn uniformly below a bound. The bound doubles up to a cap.
///
/// A success counts only once it has lasted for `probation` (`ended(after:)`). So a connection that opens and dies at
/// once is not tried again at full speed. Randomness is passed in, so that a test can run an hour of reconnecting as a
/// table.
package struct Backoff: Sendable {
    /// How long a success must last for the waits to begin again.
    package static let probation = Duration.seconds(10)

    /// The first bound.
    package let base: Duration
    /// The largest bound: `lateCap` while this worker is late, otherwise `usualCap`.
    package var cap: Duration { isLate ? lateCap : usualCap }
    private let usualCap: Duration
    private let lateCap: Duration
    /// Whether waits at the cap, except the first one, are drawn from its last quarter.
    private let isSteady: Bool
    /// Whether this worker is one of the few that reconnect late after this outage.
    private var isLate = false
    /// How many waits were drawn since a success that lasted. `crowded()` sets it so that the next wait is the first at
    /// the cap.
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

    /// Reconnecting to the broker: bounds from 0.5 to 4 seconds, and up to 24 for a worker that is late (`OutageDraw`).
    ///
    /// The cap brings a single worker back within four seconds of its broker's return. The few late workers spread the
    /// return of a fleet over more than ten seconds.
    ///
    /// The first wait at the cap is drawn from the whole bound and gives each worker a time of its own. Later waits are
    /// nearly equal, so that the workers return evenly over the four seconds. If each wait were drawn from the whole
    /// bound, half of the workers would return in the first second.
    package static var broker: Backoff {
        Backoff(base: .milliseconds(500), cap: .seconds(4), lateCap: .seconds(24), isSteady: true)
    }
    /// Asking again for a queue that is missing or that we may not read: bounds from 1 to 15 seconds.
    package static var queue: Backoff { Backoff(base: .seconds(1), cap: .seconds(15)) }
    /// Publishing again after a refusal or a return, and opening a publish channel again: bounds from 0.1 to 4 seconds.
    package static var publication: Backoff { Backoff(base: .milliseconds(100), cap: .seconds(4)) }

    /// Draws the next wait. It is at least a twentieth of the bound, because waits of nearly zero would make a busy
    /// loop.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let bound = bound(after: failures)
        let wasAtCap = failures > 0 && self.bound(after: failures - 1) == cap
        failures += 1
        let least = isSteady && wasAtCap ? bound / 4 * 3 : bound / 20
        return .random(in: least...bound, using: &random)
    }

    private func bound(after failures: Int) -> Duration { min(cap, base * (1 << min(failures, 20))) }

    /// A success has ended. The waits begin again if it lasted.
    ///
    /// - Parameter lifetime: How long it lasted.
    package mutating func ended(after lifetime: Duration) {
        if lifetime >= Self.probation { failures = 0 }
    }

    /// Many workers lost their connections at the same time. The next wait is drawn from the largest bound.
    package mutating func crowded() {
        // Stops at the first wait at the cap, because that one is drawn from the whole bound.
        failures = 0
        while failures < 20, bound(after: failures) < cap { failures += 1 }
    }

    /// An attempt to reach the broker ran out of time, so this worker is not late any more. Such a busy broker already
    /// spreads the fleet's return, and long pauses would only spread it further.
    package mutating func metSilence() { isLate = false }

    /// A connection is gone, perhaps with those of all workers. The waits begin again if it lasted.
    ///
    /// - Parameters:
    ///   - lifetime: How long it lasted.
    ///   - isCrowd: Whether the broker closed it. The broker is then expected to have closed those of all other
    ///     workers, too.
    ///   - isLate: Whether this worker is one of the few that reconnect late after this outage, see `OutageDraw`.
    package mutating func lost(after lifetime: Duration, isCrowd: Bool, isLate: Bool) {
        self.isLate = isLate
        ended(after: lifetime)
        if isCrowd { crowded() }
    }
}
