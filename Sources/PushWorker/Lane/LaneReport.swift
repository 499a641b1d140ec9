/// The latest reports of a lane's routes.
///
/// A report asks only the routes that were looked at since the report before, and a few of the others in turn. Values
/// that change without an event, such as the number of connections, are known a few reports later.
struct LaneReport {
    /// How many of the other routes are asked for each report; a quarter of all, if that is more.
    static let fewest = 8

    private let routes: [Route]
    private let configured: Int
    /// Routes that were looked at since the report before.
    private var changed: [Route] = []
    /// The position of the route that was last asked in turn.
    private var position = 0
    /// How many of the other routes are still asked for this report.
    private var left: Int

    /// How the routes are doing, in the lane's order.
    private(set) var statuses: [LaneStatus.Route]
    /// The routes' counters, by their positions in the configuration. The last place is that of the route that answers
    /// jobs nobody claims.
    private(set) var counters: [RouteCounters?]

    /// Starts with routes of which nothing is known yet.
    ///
    /// - Parameters:
    ///   - routes: The lane's routes.
    ///   - configured: How many routes are configured, on any lane.
    init(_ routes: [Route], configured: Int) {
        self.routes = routes
        self.configured = configured
        left = routes.count
        statuses = routes.map {
            LaneStatus.Route(name: $0.name, state: .starting, connections: 0, troubles: [], limitedBy: .nothing)
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

    /// Makes the next report ask all routes.
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

    /// Takes a route's report.
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
