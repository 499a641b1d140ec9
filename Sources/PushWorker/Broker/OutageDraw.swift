package import EventLoop
import Synchronization

/// Draws, once per worker and outage of its broker, whether the worker is one of the few that reconnect late.
///
/// A worker does not know how many others there are. A thousand connections must not return within the four seconds
/// that suit a single worker, so one worker in `share` pauses up to 24 seconds. Its connections share one draw. Pure.
package struct OutageDraw: Sendable {
    /// One worker in this many is late.
    ///
    /// With 500 workers, the last one returns more than ten seconds after the first, except in one outage of 3,500. A
    /// single worker needs more than five seconds to return in at most three outages of a hundred. So the median of
    /// five outages is above five seconds at most once in 3,000 series. If one worker in ten were late, it would be
    /// above five seconds once in a hundred series.
    package static let share: UInt64 = 32
    /// Losses within this time of the first are one outage. Each connection notices the outage by itself.
    package static let span = Duration.seconds(5)

    private var drawn: (at: MonotonicTime, isLate: Bool)?

    /// A worker that has lost nothing.
    package init() {}

    /// Whether the worker is late after the loss of a connection.
    ///
    /// - Parameters:
    ///   - now: The time of the loss.
    ///   - random: The source of randomness.
    /// - Returns: The draw at the first loss of the outage.
    package mutating func isLate(now: MonotonicTime, using random: inout some RandomNumberGenerator) -> Bool {
        if let drawn, now < drawn.at + Self.span { return drawn.isLate }
        let isLate = UInt64.random(in: 0..<Self.share, using: &random) == 0
        drawn = (now, isLate)
        return isLate
    }

    /// The draw that all connections of a worker share.
    package final class Shared: Sendable {
        /// The draw of this process.
        package static let ofProcess = Shared()

        private let draw = Mutex(OutageDraw())

        /// Begins without a loss.
        package init() {}

        /// Whether the worker is late after the loss of a connection; from any thread.
        ///
        /// - Parameters:
        ///   - now: The time of the loss.
        ///   - random: The source of randomness.
        /// - Returns: The same answer for all connections that were lost in one outage.
        package func isLate(now: MonotonicTime, using random: inout some RandomNumberGenerator) -> Bool {
            draw.withLock { $0.isLate(now: now, using: &random) }
        }
    }
}
