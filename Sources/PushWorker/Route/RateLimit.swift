package import EventLoop
internal import Synchronization

/// A token bucket that holds a route to its configured requests per second, to devices and about channels alike.
///
/// Pure: time comes in. A tenth of a second's worth may go out at once, never less than one.
package struct RateLimit {
    private let perSecond: Double
    private let burst: Double
    private var tokens: Double
    private var refilledAt: MonotonicTime?

    /// Creates a full bucket for a rate in requests per second.
    package init(perSecond: Double) {
        self.perSecond = perSecond
        burst = max(1, perSecond / 10)
        tokens = burst
    }

    /// How many requests may go out now.
    package mutating func available(now: MonotonicTime) -> Int {
        if let since = refilledAt {
            tokens = min(burst, tokens + (now - since) / .seconds(1) * perSecond)
        }
        refilledAt = now
        return Int(tokens)
    }

    /// Records that requests go out. A negative number takes back requests that did not go out.
    package mutating func take(_ count: Int = 1) { tokens = min(burst, tokens - Double(count)) }

    /// When the next request may go out, after `available(now:)` gave none.
    package func nextDue(now: MonotonicTime) -> MonotonicTime {
        now + .seconds(max(0, 1 - tokens) / perSecond)
    }
}

/// The rate of a route on all its lanes. Safe on any thread.
final class SharedRate: Sendable {
    private let limit: Mutex<RateLimit>

    /// A full bucket for a rate in requests per second.
    init(perSecond: Double) { limit = Mutex(RateLimit(perSecond: perSecond)) }

    /// How many requests may go out now; none of them is taken.
    func available(now: MonotonicTime) -> Int { limit.withLock { $0.available(now: now) } }

    /// Takes as many requests as may go out now, within a number.
    ///
    /// - Parameters:
    ///   - most: How many are wanted at most.
    ///   - now: The time.
    /// - Returns: How many were taken. The caller gives back those that it does not use.
    func take(upTo most: Int, now: MonotonicTime) -> Int {
        limit.withLock { limit in
            let count = max(0, min(most, limit.available(now: now)))
            limit.take(count)
            return count
        }
    }

    /// Gives back requests that were taken and not used. A negative number takes more than the rate allows now.
    func giveBack(_ count: Int) { limit.withLock { $0.take(-count) } }

    /// When the next request may go out, when none may go out now.
    func nextDue(now: MonotonicTime) -> MonotonicTime { limit.withLock { $0.nextDue(now: now) } }
}
