import EventLoop
import Synchronization

/// The rate of a route on all its lanes. Safe on any thread.
final class SharedRate: Sendable {
    /// Requests per second and lane.
    let perLane: Double
    /// Requests per second and lane that jobs may be taken for: 0 while the rate is held, because it may be too large.
    /// Jobs that were taken for too large a rate would be missing in other workers.
    let promised: Double
    private let limit: Mutex<RateLimit>
    /// On how many lanes `high` jobs that go before normal ones wait for the rate.
    private let urgentLanes = Atomic(0)

    /// A rate with a full bucket.
    ///
    /// - Parameters:
    ///   - perSecond: Requests per second on all lanes together.
    ///   - lanes: How many lanes share the rate.
    init(perSecond: Double, lanes: Int = 1) {
        perLane = perSecond / Double(lanes)
        promised = perLane
        limit = Mutex(RateLimit(perSecond: perSecond))
    }

    /// A rate whose bucket is empty, or holds what an earlier bucket held.
    ///
    /// - Parameters:
    ///   - perSecond: Requests per second on all lanes together.
    ///   - lanes: How many lanes share the rate.
    ///   - start: When the bucket begins to fill.
    ///   - isHeld: Whether the rate may be too large, and another one will replace it.
    ///   - earlier: The rate that this one replaces; nil for none.
    init(
        perSecond: Double, lanes: Int, fillingFrom start: MonotonicTime, isHeld: Bool = false,
        after earlier: SharedRate? = nil
    ) {
        perLane = perSecond / Double(lanes)
        promised = isHeld ? 0 : perLane
        limit = Mutex(
            RateLimit(perSecond: perSecond, fillingFrom: start, after: earlier?.limit.withLock { $0 }))
    }

    /// How many requests may go out now; none of them is taken.
    func available(now: MonotonicTime) -> Int { limit.withLock { $0.available(now: now) } }

    /// Notes whether `high` jobs wait on a lane for the rate. Normal jobs of any lane leave one request to each such
    /// lane.
    func note(isUrgent: Bool) { urgentLanes.add(isUrgent ? 1 : -1, ordering: .relaxed) }

    /// How many requests have to be left to lanes on which `high` jobs wait.
    private func left(_ isUrgent: Bool) -> Int { isUrgent ? 0 : urgentLanes.load(ordering: .relaxed) }

    /// Takes as many requests as may go out now, up to a number.
    ///
    /// - Parameters:
    ///   - most: How many are wanted at most.
    ///   - isUrgent: Whether they are for `high` jobs that go before normal ones on all lanes.
    ///   - now: The time.
    /// - Returns: How many were taken. The caller gives back those that it does not use.
    func take(upTo most: Int, isUrgent: Bool = false, now: MonotonicTime) -> Int {
        let left = left(isUrgent)
        return limit.withLock { limit in
            let count = max(0, min(most, limit.available(now: now) - left))
            limit.take(count)
            return count
        }
    }

    /// Gives back requests that were taken and not used. A negative number takes more than the rate allows now.
    func giveBack(_ count: Int) {
        // In most turns everything that was taken is used.
        if count != 0 { limit.withLock { $0.take(-count) } }
    }

    /// When the next request may go out, if none may go out now.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether it is for a `high` job.
    ///   - now: The time.
    func nextDue(isUrgent: Bool = false, now: MonotonicTime) -> MonotonicTime {
        let left = left(isUrgent)
        return limit.withLock { $0.nextDue(now: now, after: left) }
    }
}
