import APNSClient

/// The facts that decide a route's limit, at one moment. Pure.
struct RouteSituation {
    /// How much the breaker lets in.
    var intake = RouteBreaker.Intake.full
    /// Whether the lane finishes its work, so that the route is to take no more jobs.
    var isDraining = false
    /// Whether the broker serves the route's queues.
    var isServing = true
    /// Whether publications wait for the broker, so that nothing more is pushed.
    var isCongested = false
    /// Whether notifications wait to be sent.
    var hasBacklog = false
    /// Whether a rate holds these notifications back.
    var isRateReached = false
    /// The limit that keeps the connections from taking more.
    var pool = APNSPoolLimit.nothing
    /// Jobs that are delivered and not acknowledged.
    var unacknowledged = 0
    /// How many jobs the broker hands out at most; 0 while it hands out no jobs.
    var prefetch = 0
    /// Requests without an answer.
    var inFlight = 0

    /// The route's limit; of several limits the one that must change first.
    var limit: RouteLimit {
        if intake != .full { return .apns }
        if isCongested || !(isServing || isDraining) { return .broker }
        guard hasBacklog else {
            // Everything is sent, and most of what was delivered waits for confirms of its results.
            let waitsForConfirms = prefetch > 0 && unacknowledged >= prefetch && inFlight * 2 < unacknowledged
            return waitsForConfirms ? .broker : .nothing
        }
        if isRateReached { return .rate }
        switch pool {
        case .streams: return .streams
        case .window: return .window
        case .server: return .apns
        case .nothing: return .nothing
        }
    }
}
