/// The state of a lane that changes when routes come and go.
struct RouteTurnover {
    /// Which routes are served, as the lane was told last.
    var served = ServedRoutes.all
    /// The positions of routes that have left and whose channels are closed.
    var free: [Int] = []
    /// What routes counted that have left; nil while none has.
    var counted: RouteCounters?

    /// Starts with the routes of the start.
    init() {}

    /// Whether this worker takes jobs of a route.
    func isServed(_ route: Route) -> Bool { served.contains(route.claim == nil ? nil : route.number) }
}
