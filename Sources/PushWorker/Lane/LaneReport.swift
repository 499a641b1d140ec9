/// What others are told of a lane's routes, as far as it is known.
///
/// A report asks only the routes that were looked at since the one before, and a few of the others in turn: what changes
/// without an event, such as the number of connections, is known a few reports later.
struct LaneReport {
    /// How many routes that nothing happened to are asked for a report at least; a quarter of all where that is more.
    static let fewest = 8

    private let routes: [Route]
    private let configured: Int
    /// Routes that were looked at since the report before.
    private var changed: [Route] = []
    /// The next of the others.
    private var position = 0
    /// How many of the others are still asked for this report.
    private var left: Int

    /// How the routes are doing, in the lane's order.
    private(set) var statuses: [LaneStatus.Route]
    /// What the routes counted, by their positions in the configuration; behind them the route that answers jobs nobody
    /// claims.
    private(set) var counters: [RouteCounters?]

    /// Starts with routes of which nothing is known yet.
    ///
    /// - Parameters:
    ///   - routes: The lane's routes.
    ///   - configured: How many routes are configured, on whatever lane.
    init(_ routes: [Route], configured: Int) {
        self.routes = routes
        self.configured = configured
        left = routes.count
        statuses = routes.map {
            LaneStatus.Route(name: $0.name, state: "starting", connections: 0, troubles: [], limitedBy: .nothing)
        }
        counters = Array(repeating: nil, count: configured + 1)
    }

    /// Notes routes that a turn looked at.
    mutating func note(_ routes: [Route]) {
        for route in routes where route.isReported {
            route.isReported = false
            changed.append(route)
        }
    }

    /// Forgets what is known, so that the next report asks all routes.
    mutating func forget() { left = routes.count }

    /// The next route to ask for this report; nil when it is complete.
    mutating func next() -> Route? {
        if let route = changed.popLast() { return route }
        guard left > 0 else {
            left = min(routes.count, max(Self.fewest, routes.count / 4))
            return nil
        }
        left -= 1
        position = (position + 1) % routes.count
        return routes[position]
    }

    /// Takes what a route had to say.
    ///
    /// - Parameters:
    ///   - status: How it is doing.
    ///   - counted: What it counted.
    ///   - route: The route.
    mutating func take(_ status: LaneStatus.Route, _ counted: RouteCounters, of route: Route) {
        route.isReported = true
        statuses[route.position] = status
        counters[route.claim?.index ?? configured] = counted
    }
}
