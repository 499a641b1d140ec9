import EventLoop

/// A rate that a route keeps. A class, because a change of rate is told by another object, also where the number is the
/// same. Confined to its lane.
final class SendingRate {
    /// Requests per second.
    let perSecond: Double
    /// Requests per second that jobs may be taken for: 0 while the rate is held, because it may be too large. Jobs that
    /// were taken for too large a rate would be missing in other workers.
    let promised: Double
    private var limit: RateLimit

    /// A rate with a full bucket.
    init(perSecond: Double) {
        (self.perSecond, promised) = (perSecond, perSecond)
        limit = RateLimit(perSecond: perSecond)
    }

    /// A rate whose bucket is empty, or holds what an earlier bucket held.
    ///
    /// - Parameters:
    ///   - perSecond: Requests per second.
    ///   - start: When the bucket begins to fill.
    ///   - isHeld: Whether the rate may be too large, and another one will replace it.
    ///   - earlier: The rate that this one replaces; nil for none.
    init(perSecond: Double, fillingFrom start: MonotonicTime, isHeld: Bool = false, after earlier: SendingRate? = nil) {
        self.perSecond = perSecond
        promised = isHeld ? 0 : perSecond
        limit = RateLimit(perSecond: perSecond, fillingFrom: start, after: earlier?.limit)
    }

    /// How many requests may go out now; none of them is taken.
    func available(now: MonotonicTime) -> Int { limit.available(now: now) }

    /// Takes as many requests as may go out now, up to a number. The caller gives back those that it does not use.
    func take(upTo most: Int, now: MonotonicTime) -> Int {
        let count = max(0, min(most, limit.available(now: now)))
        limit.take(count)
        return count
    }

    /// Gives back requests that were taken and not used. A negative number takes more than the rate allows now.
    func giveBack(_ count: Int) { limit.take(-count) }

    /// When the next request may go out, if none may go out now.
    func nextDue(now: MonotonicTime) -> MonotonicTime { limit.nextDue(now: now) }
}
