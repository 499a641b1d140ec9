import EventLoop

/// Decides this worker's part of each rate that operators set for all workers together. Pure: counts come in.
///
/// A worker's part of a route's rate is the part that its consumer is of all consumers of the route's job queue. RabbitMQ
/// counts the consumers, so the workers need not hear of each other.
struct FleetRates {
    /// How often the consumers are counted. The end of another worker shows in the parts after two counts.
    static let interval = Duration.seconds(2)
    /// For how long a worker sends nothing of a route that begins or goes on, while its own consumers are not in the
    /// count yet. Many workers may begin at once, and each would take the whole rate.
    static let hold = Duration.seconds(3)
    /// The same for a route that is added while its rate is in force. It waits for the next count, and that may
    /// have to wait until the stream is read again.
    static let longestHold = ControlReading.laterPatience.longest

    /// What a part waits for, because it may be too large until then.
    enum Hold: Equatable, Sendable {
        /// Until the route goes on: it was paused before its consumers were counted.
        case pause
        /// Until this worker's consumers are in the count, for `hold` at most.
        case count
    }

    /// The part of a route's rate that a worker may send.
    struct Part: Equatable, Sendable {
        /// Requests per second.
        let perSecond: Double
        /// What it waits for; nil for nothing.
        var hold: Hold?

        /// The part as a rate. Its bucket begins with the contents of the earlier one, because each worker makes a new
        /// rate whenever a worker starts or ends.
        ///
        /// - Parameters:
        ///   - now: The time.
        ///   - earlier: The rate that the new one replaces; nil for none.
        func rate(now: MonotonicTime, after earlier: SendingRate? = nil) -> SendingRate {
            let start =
                switch hold {
                case .pause: MonotonicTime.distantFuture
                case .count: now + FleetRates.hold
                case nil: now
                }
            return SendingRate(perSecond: perSecond, fillingFrom: start, isHeld: hold != nil, after: earlier)
        }
    }

    /// The last two counts. A consumer that is started again with another prefetch may be missing in one of them.
    private struct Counts {
        var latest: Int
        var before: Int
        var hold: Hold?
    }

    private var counts: [String: Counts] = [:]

    /// Nothing is counted yet.
    init() {}

    /// The broker has counted the consumers of a route's job queue.
    ///
    /// - This worker is added while it does not consume, because it may begin at any time, or still send.
    /// - While it does not consume, a smaller count is not believed: in all workers, the route may be paused, or APNs out
    ///   of reach. Then they all begin again together.
    ///
    /// - Parameters:
    ///   - consumers: How many there are in all workers.
    ///   - route: The route's name.
    ///   - isConsuming: Whether this worker consumes the route, so that the broker counts it.
    mutating func counted(_ consumers: Int, of route: String, isConsuming: Bool) {
        let count = consumers + (isConsuming ? 0 : 1)
        guard let known = counts[route] else {
            counts[route] = Counts(latest: count, before: 0, hold: isConsuming ? nil : .count)
            return
        }
        let isBelieved = consumers > 0 && isConsuming
        counts[route] = Counts(
            latest: isBelieved ? count : max(count, known.latest), before: known.latest,
            hold: known.hold != nil && !isConsuming ? .count : nil)
    }

    /// The route is paused, so its consumers are not counted. They end one after the other, and come back together: a
    /// count between would be too small.
    ///
    /// - Parameter route: The route's name.
    mutating func paused(_ route: String) {
        if counts[route] == nil { counts[route] = Counts(latest: 0, before: 0, hold: .pause) }
    }

    /// The broker does not tell this worker's user how many consumers a route has (403), although the route goes on. No
    /// count will come, so the route must not wait for one. An earlier count stands.
    ///
    /// - Parameter route: The route's name.
    mutating func countRefused(_ route: String) {
        switch counts[route]?.hold {
        case .pause: counts[route] = nil
        case .count: counts[route]?.hold = nil
        case nil: break
        }
    }

    /// This worker's part of a rate; the whole rate if nothing was counted.
    ///
    /// - Parameters:
    ///   - perSecond: What all workers together may send, in requests per second.
    ///   - route: The route's name.
    func part(of perSecond: Double, route: String) -> Part {
        let known = counts[route]
        let counted = known.map { max($0.latest, $0.before) } ?? 0
        return Part(perSecond: perSecond / Double(max(1, counted)), hold: known?.hold)
    }

    /// Forgets the counts of routes without such a rate.
    ///
    /// - Parameter isKept: Whether a route has one.
    mutating func forget(except isKept: (String) -> Bool) {
        counts = counts.filter { isKept($0.key) }
    }
}
