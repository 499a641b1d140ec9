/// Everything the lane counted until one moment.
package struct LaneSnapshot: Sendable {
    /// The lane's own counters.
    package var lane: LaneCounters
    /// Its routes' counters, by the route's number in the worker; nil where the lane has no part in a route.
    package var routes: [RouteCounters?]
    /// The sum of the counters of routes that have left; nil before the first one left.
    package var left: RouteCounters?

    /// Makes a snapshot.
    package init(lane: LaneCounters, routes: [RouteCounters?], left: RouteCounters? = nil) {
        self.lane = lane
        self.routes = routes
        self.left = left
    }
}
