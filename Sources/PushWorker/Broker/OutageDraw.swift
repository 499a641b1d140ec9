package import EventLoop
internal import Synchronization

/// Draws once per worker and outage of its broker whether the worker is one of the few that come back late.
///
/// Nobody tells a worker how many others there are. So that a thousand connections do not come back within the four
/// seconds that suit a single worker, one worker in `share` pauses up to 24 seconds. All lanes of a worker have one
/// answer: with a draw for each, a worker of many lanes would nearly always have one that is late. Pure.
package struct OutageDraw: Sendable {
    /// One worker in so many is late.
    ///
    /// With 500 workers the last comes more than ten seconds after the first, but for once in 3,500 outages. A single
    /// worker comes back later than after five seconds in at most three outages of a hundred, so that this is the median
    /// of five at most once in 3,000 goes. One in ten would make that one go in a hundred.
    package static let share: UInt64 = 32
    /// Losses within so much time of the first are one outage: lanes learn of it each by itself.
    package static let span = Duration.seconds(5)

    private var drawn: (at: MonotonicTime, isLate: Bool)?

    /// A worker that has lost nothing.
    package init() {}

    /// Whether the worker is late after the loss of a connection.
    ///
    /// - Parameters:
    ///   - now: The time of the loss.
    ///   - random: What is drawn from.
    /// - Returns: What was drawn at the first loss of the outage.
    package mutating func isLate(now: MonotonicTime, using random: inout some RandomNumberGenerator) -> Bool {
        // Another lane may have read its clock a little later.
        if let drawn, now < drawn.at + Self.span { return drawn.isLate }
        let isLate = UInt64.random(in: 0..<Self.share, using: &random) == 0
        drawn = (now, isLate)
        return isLate
    }

    /// The draw that all lanes of a worker share.
    package final class Shared: Sendable {
        /// The one of this process.
        package static let ofProcess = Shared()

        private let draw = Mutex(OutageDraw())

        /// Begins without a loss.
        package init() {}

        /// Whether the worker is late after the loss of a connection; from any lane.
        ///
        /// - Parameters:
        ///   - now: The time of the loss.
        ///   - random: What is drawn from.
        /// - Returns: The same for all lanes that lost theirs in one outage.
        package func isLate(now: MonotonicTime, using random: inout some RandomNumberGenerator) -> Bool {
            draw.withLock { $0.isLate(now: now, using: &random) }
        }
    }
}
