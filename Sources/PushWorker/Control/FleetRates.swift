import EventLoop

/// Deals out the rates that operators set for all workers together: this worker's part of each. Pure: counts come in.
///
/// A worker takes the part of a route's rate that its lanes have among all consumers of the route's job queue.
/// RabbitMQ counts these, so the workers need not hear of each other.
struct FleetRates {
    /// How often the consumers are counted. A worker that ends is noticed with the second count.
    static let interval = Duration.seconds(2)
    /// For how long a worker that begins sends nothing of a route while its consumers were not counted with the others.
    /// Many workers may begin at once, and each would take all of the rate.
    static let hold = Duration.seconds(3)
    /// The same for a route that is added while its rate is in force: its lanes wait for the next count, which takes as
    /// long as the stream is read again at most.
    static let longestHold = ControlReading.laterPatience.longest

    /// The lanes of this worker that have a route.
    struct Lanes: Equatable, Sendable {
        /// How many there are.
        var all: Int
        /// How many of them consume, so that the broker counts them.
        var consuming: Int
    }

    /// What a worker may send of a route.
    struct Part: Equatable, Sendable {
        /// Requests per second on all its lanes.
        let perSecond: Double
        /// How many lanes share them.
        let lanes: Int
        /// Whether this worker's consumers were not counted yet.
        var isHeld = false

        /// The part for the worker's lanes. Its bucket holds what the earlier one held: each worker makes a new one
        /// whenever a worker begins or ends.
        ///
        /// - Parameters:
        ///   - now: The time.
        ///   - earlier: The part before; nil for none.
        func rate(now: MonotonicTime, after earlier: SharedRate? = nil) -> SharedRate {
            SharedRate(
                perSecond: perSecond, lanes: lanes, fillingFrom: isHeld ? now + FleetRates.hold : now, after: earlier)
        }
    }

    /// The last two counts: a consumer that is started again with another prefetch may be missing in one of them.
    private struct Counts {
        var latest: Int
        var before: Int
        var isHeld: Bool
    }

    private var counts: [String: Counts] = [:]

    /// Nothing is counted yet.
    init() {}

    /// The broker has counted the consumers of a route's job queue.
    ///
    /// - Lanes of this worker that do not consume are added, because they may begin at any time, or still send.
    /// - While none of them consumes, a smaller count is not believed: the route may be paused or without APNs in all
    ///   workers. They go on together.
    ///
    /// - Parameters:
    ///   - consumers: How many there are in all workers.
    ///   - route: The route's name.
    ///   - lanes: This worker's lanes.
    mutating func counted(_ consumers: Int, of route: String, lanes: Lanes) {
        let count = consumers + max(0, lanes.all - lanes.consuming)
        guard let known = counts[route] else {
            counts[route] = Counts(latest: count, before: 0, isHeld: lanes.consuming == 0)
            return
        }
        let isBelieved = consumers > 0 && lanes.consuming > 0
        counts[route] = Counts(
            latest: isBelieved ? count : max(count, known.latest), before: known.latest,
            isHeld: known.isHeld && lanes.consuming == 0)
    }

    /// This worker's part of a rate; all of it where nothing could be counted.
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
            isHeld: known?.isHeld ?? false)
    }

    /// Forgets the counts of routes without such a rate.
    ///
    /// - Parameter isKept: Whether a route has one.
    mutating func forget(except isKept: (String) -> Bool) {
        counts = counts.filter { isKept($0.key) }
    }
}
