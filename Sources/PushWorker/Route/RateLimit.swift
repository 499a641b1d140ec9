package import EventLoop

/// A token bucket that holds a route to a number of requests per second. Requests to devices and about broadcast
/// channels count alike.
///
/// As many requests may go out at once as the rate allows in 0.1 s, but at least one. Pure: time comes in.
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

    /// Creates an empty bucket, or one with the tokens of an earlier bucket, as far as they fit.
    ///
    /// - Parameters:
    ///   - perSecond: The rate in requests per second.
    ///   - start: When it begins to fill.
    ///   - earlier: The bucket that the new one replaces; nil for none.
    package init(perSecond: Double, fillingFrom start: MonotonicTime, after earlier: RateLimit? = nil) {
        self.init(perSecond: perSecond)
        var earlier = earlier
        _ = earlier?.available(now: start)
        tokens = min(burst, earlier?.tokens ?? 0)
        refilledAt = start
    }

    /// How many requests may go out now. Zero or a negative number means none: more may have been taken than were
    /// there.
    package mutating func available(now: MonotonicTime) -> Int {
        if let since = refilledAt {
            guard now >= since else { return 0 }
            tokens = min(burst, tokens + (now - since) / .seconds(1) * perSecond)
        }
        refilledAt = now
        return Int(tokens)
    }

    /// Records that requests go out. A negative number takes back requests that did not go out.
    package mutating func take(_ count: Int = 1) { tokens = min(burst, tokens - Double(count)) }

    /// When the next request may go out, if `available(now:)` allowed none.
    package func nextDue(now: MonotonicTime) -> MonotonicTime {
        max(now, refilledAt ?? now) + .seconds(max(0, 1 - tokens) / perSecond)
    }
}
