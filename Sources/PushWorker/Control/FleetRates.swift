import EventLoop

/// Decides this worker's part of each rate that operators set for all workers together. Pure: counts come in.
///
/// A worker's part of a route's rate is the part that its lanes are of all consumers of the route's job queue. RabbitMQ
/// counts the consumers, so the workers need not hear of each other.
struct FleetRates {
    /// How often the consumers are counted. The end of another worker shows in the parts after two counts.
    static let interval = Duration.seconds(2)
    /// For how long a worker sends nothing of a route that begins or goes on, while its own consumers are not in the
    /// count yet. Many workers may begin at once, and each would take the whole rate.
    static let hold = Duration.seconds(3)
    /// The same for a route that is added while its rate is in force. Its lanes wait for the next count, and that may
    /// have to wait until the stream is read again.
    static let longestHold = ControlReading.laterPatience.longest

    /// The lanes of this worker that have a route.
    struct Lanes: Equatable, Sendable {
        /// How many there are.
        var all: Int
        /// How many of them consume, so that the broker counts them.
        var consuming: Int
    }

    /// What a part waits for, because it may be too large until then.
    enum Hold: Equatable, Sendable {
        /// Until the route goes on: it was paused before its consumers were counted.
        case pause
        /// Until this worker's consumers are in the count, for `hold` at most.
        case count
    }

    /// The part of a route's rate that a worker may send.
    struct Part: Equatable, Sendable {
        /// Requests per second on all its lanes.
        let perSecond: Double
        /// How many lanes share them.
        let lanes: Int
        /// What it waits for; nil for nothing.
        var hold: Hold?

        /// The part as a rate for the worker's lanes. Its bucket begins with the contents of the earlier one, because
        /// each worker makes a new rate whenever a worker starts or ends.
        ///
        /// - Parameters:
        ///   - now: The time.
        ///   - earlier: The rate that the new one replaces; nil for none.
        func rate(now: MonotonicTime, after earlier: SharedRate? = nil) -> SharedRate {
            let start =
                switch hold {
                case .pause: MonotonicTime.distantFuture
                case .count: now + FleetRates.hold
                case nil: now
                }
            return SharedRate(
                perSecond: perSecond, lanes: lanes, fillingFrom: start, isHeld: hold != nil, after: earlier)
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
    /// - Lanes of this worker that do not consume are added, because they may begin at any time, or still send.
    /// - While no lane of this worker consumes, a smaller count is not believed: in all workers, the route may be
    ///   paused, or APNs out of reach. Then they all begin again together.
    ///
    /// - Parameters:
    ///   - consumers: How many there are in all workers.
    ///   - route: The route's name.
    ///   - lanes: This worker's lanes.
    mutating func counted(_ consumers: Int, of route: String, lanes: Lanes) {
        let count = consumers + max(0, lanes.all - lanes.consuming)
        guard let known = counts[route] else {
            counts[route] = Counts(latest: count, before: 0, hold: lanes.consuming == 0 ? .count : nil)
            return
        }
        let isBelieved = consumers > 0 && lanes.consuming > 0
        counts[route] = Counts(
            latest: isBelieved ? count : max(count, known.latest), before: known.latest,
            hold: known.hold != nil && lanes.consuming == 0 ? .count : nil)
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
    ///   - lanes: How many lanes of this worker have the route.
    func part(of perSecond: Double, route: String, lanes: Int) -> Part {
        let known = counts[route]
        let counted = known.map { max($0.latest, $0.before) } ?? 0
        return Part(
            perSecond: perSecond * Double(lanes) / Double(max(lanes, counted)), lanes: lanes,
            hold: known?.hold)
    }

    /// Forgets the counts of routes without such a rate.
    ///
    /// - Parameter isKept: Whether a route has one.
    mutating func forget(except isKept: (String) -> Bool) {
        counts = counts.filter { isKept($0.key) }
    }
}
