/// Everything a lane counted until one moment.
package struct LaneSnapshot: Sendable {
    /// The lane's own counters.
    package var lane: LaneCounters
    /// Its routes' counters, by the route's number in the worker; nil where the lane has no part in a route.
    package var routes: [RouteCounters?]
    /// What routes counted in all that have left; nil while none has.
    package var left: RouteCounters?

    /// Makes a snapshot.
    package init(lane: LaneCounters, routes: [RouteCounters?], left: RouteCounters? = nil) {
        self.lane = lane
        self.routes = routes
        self.left = left
    }
}
