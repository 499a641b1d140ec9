/// Deals out the rates that operators set for all workers together: this worker's part of each. Pure: counts come in.
///
/// A worker takes the part of a route's rate that its consumers have among all consumers of the route's job queue.
/// RabbitMQ counts these, so the workers need not hear of each other.
struct FleetRates {
    /// How often the consumers are counted. A worker that ends is noticed with the second count.
    static let interval = Duration.seconds(2)

    /// What a worker may send of a route.
    struct Part: Equatable, Sendable {
        /// Requests per second on all its lanes.
        let perSecond: Double
        /// How many lanes share them.
        let lanes: Int
    }

    /// The last two counts: a consumer that is started again with another prefetch may be missing in one of them.
    private struct Counts {
        var latest: Int
        var before: Int
    }

    private var counts: [String: Counts] = [:]

    /// Nothing is counted yet.
    init() {}

    /// The broker has counted the consumers of a route's job queue.
    ///
    /// Where it counts none, the route is paused in all workers. So the last count stays, until the route goes on.
    ///
    /// - Parameters:
    ///   - consumers: How many there are in all workers.
    ///   - route: The route's name.
    ///   - lanes: How many of them may be this worker's. They are added to the first count, which may be from before they
    ///     began.
    mutating func counted(_ consumers: Int, of route: String, lanes: Int) {
        if let known = counts[route] {
            counts[route] = Counts(latest: consumers > 0 ? consumers : known.latest, before: known.latest)
        } else {
            counts[route] = Counts(latest: consumers + lanes, before: 0)
        }
    }

    /// This worker's part of a rate; all of it where nothing could be counted.
    ///
    /// - Parameters:
    ///   - perSecond: What all workers together may send, in requests per second.
    ///   - route: The route's name.
    ///   - lanes: How many lanes of this worker have the route.
    func part(of perSecond: Double, route: String, lanes: Int) -> Part {
        let counted = counts[route].map { max($0.latest, $0.before) } ?? 0
        return Part(perSecond: perSecond * Double(lanes) / Double(max(lanes, counted)), lanes: lanes)
    }

    /// Forgets the counts of routes without such a rate.
    ///
    /// - Parameter isKept: Whether a route has one.
    mutating func forget(except isKept: (String) -> Bool) {
        counts = counts.filter { isKept($0.key) }
    }
}
