/// The state of a lane that changes when routes come and go.
struct RouteTurnover {
    /// Which routes are served, as the lane was told last.
    var served = ServedRoutes.all
    /// The positions of routes that have left and whose channels are closed.
    var free: [Int] = []
    /// The sum of the counters of routes that have left; nil before the first left.
    private(set) var counted: RouteCounters?
    /// The routes that have not left, by their numbers in the worker.
    private var numbered: [Int: Route] = [:]

    /// Takes up the routes that the lane has from its start.
    init(_ routes: [Route]) {
        for route in routes { add(route) }
    }

    /// The route that has a number now; nil where no route on the lane has it.
    func route(_ number: Int) -> Route? { numbered[number] }

    /// Notes a new route under its number.
    mutating func add(_ route: Route) {
        if numbered[route.number] == nil { numbered[route.number] = route }
    }

    /// A route has left. Another route may get its number.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - counters: What it counted in all.
    mutating func remove(_ route: Route, counted counters: RouteCounters) {
        if numbered[route.number] === route { numbered[route.number] = nil }
        var counters = counters
        counters.clearGauges()
        if counted == nil { counted = counters } else { counted?.add(counters) }
    }

    /// Whether this worker takes jobs of a route.
    func isServed(_ route: Route) -> Bool { served.contains(route.claim == nil ? nil : route.number) }
}
