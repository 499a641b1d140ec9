import EventLoop

/// The latest reports of a lane's routes.
///
/// A report asks only the routes that were looked at since the report before, and a few of the others in turn. Values
/// that change without an event, such as the number of connections, are known a few reports later.
struct LaneReport {
    /// How often a report is left.
    static let interval = Duration.milliseconds(250)
    /// How many of the other routes are asked for each report; a quarter of all, if that is more.
    static let fewest = 8

    private var routes: [Route]
    /// Routes that were looked at since the report before.
    private var changed: [Route] = []
    /// The position of the route that was last asked in turn.
    private var position = 0
    /// How many of the other routes are still asked for this report.
    private var left: Int

    /// When a report may be left again.
    private var nextAt = MonotonicTime(nanoseconds: 0)
    /// Whether the last turn came too soon after a report to leave another.
    private var isOwed = false

    /// How the routes are doing, by their positions on the lane; nil for a route that has left.
    private(set) var statuses: [LaneStatus.Route?]
    /// The routes' counters, by their numbers in the worker; nil where the lane has no part in a route.
    private(set) var counters: [RouteCounters?]

    /// Starts with routes of which nothing is known yet.
    ///
    /// - Parameters:
    ///   - routes: The lane's routes.
    ///   - numbers: How many numbers the worker's routes have.
    init(_ routes: [Route], numbers: Int) {
        self.routes = routes
        left = routes.count
        statuses = routes.map(Self.unknown)
        counters = Array(repeating: nil, count: numbers)
    }

    private static func unknown(_ route: Route) -> LaneStatus.Route {
        LaneStatus.Route(name: route.name, state: .starting, connections: 0, troubles: [], limitedBy: .nothing)
    }

    /// Takes up a new route, at the position of one that has left or behind the others.
    mutating func add(_ route: Route) {
        if route.position < routes.count {
            changed.removeAll { $0 === routes[route.position] }
            routes[route.position] = route
            statuses[route.position] = Self.unknown(route)
        } else {
            routes.append(route)
            statuses.append(Self.unknown(route))
        }
        while counters.count <= route.number { counters.append(nil) }
    }

    /// Forgets a route that has left.
    mutating func remove(_ route: Route) {
        statuses[route.position] = nil
        counters[route.number] = nil
    }

    /// Notes routes that a turn looked at.
    mutating func note(_ routes: [Route]) {
        for route in routes where route.marks.isReported {
            route.marks.isReported = false
            changed.append(route)
        }
    }

    /// Whether a turn leaves a report. If not, one is owed.
    mutating func isDue(now: MonotonicTime) -> Bool {
        isOwed = now < nextAt
        guard !isOwed else { return false }
        nextAt = now + Self.interval
        return true
    }

    /// When the report that is owed is left; nil without one.
    var dueAt: MonotonicTime? { isOwed ? nextAt : nil }

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
        route.marks.isReported = true
        guard !route.hasLeft else { return }
        // What was published shares these arrays. Writing an equal value would copy the whole array without need.
        if statuses[route.position] != status { statuses[route.position] = status }
        if counters[route.number] != counted { counters[route.number] = counted }
    }
}
