/// Everything a lane counted until one moment.
package struct LaneSnapshot: Sendable {
    /// The lane's own counters.
    package var lane: LaneCounters
    /// Its routes' counters, by the route's position in the configuration; nil where the lane has no part in a route.
    package var routes: [RouteCounters?]

    /// Makes a snapshot.
    package init(lane: LaneCounters, routes: [RouteCounters?]) {
        self.lane = lane
        self.routes = routes
    }
}
