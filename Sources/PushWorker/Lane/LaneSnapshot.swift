internal import APNSClient
internal import EventLoop
internal import PushModel
internal import RabbitMQ

/// A picture of a lane, for readiness and metrics.
struct LaneSnapshot: Sendable {
    /// One route on the lane.
    struct Route: Sendable {
        var name: String
        /// Whether it does what it should: consuming, and connected to APNs.
        var isReady: Bool
        /// Why it is not ready, in one line each.
        var troubles: [String]
        var waiting: Int
        var openRequests: Int
        var unacknowledged: Int
        var prefetch: Int
        var streamLimit: Int
    }

    /// The lane's number.
    var index: Int
    /// When it was taken: the proof that the lane turns.
    var takenAt: MonotonicTime
    var isConsuming: Bool
    var isPublishing: Bool
    var isDraining: Bool
    /// Why it is not working as a whole, in one line each.
    var troubles: [String]
    var routes: [Route]
    var deliveries: Int
    var redeliveries: Int
    var retries: Int
    var repliesLost: Int
    var finished: [LaneCounters.Finished]
    var answerTimes: [Int]
    var answerMilliseconds: Int64
    var publications: Publisher.Counts
    var unconfirmed: Int
}

extension Lane {
    /// Takes a picture of the lane.
    func snapshot() -> LaneSnapshot {
        var troubles: [String] = []
        if let trouble = consumeLink.trouble { troubles.append("broker (consuming): \(trouble)") }
        if let trouble = publishLink.trouble { troubles.append("broker (publishing): \(trouble)") }
        if let trouble = publisher.trouble { troubles.append(trouble) }
        if publishLink.connection?.isBlocked == true { troubles.append("blocked") }
        return LaneSnapshot(
            index: settings.index, takenAt: now, isConsuming: consumeLink.connection != nil,
            isPublishing: publishLink.connection != nil, isDraining: drain != nil, troubles: troubles,
            routes: routes.map(picture), deliveries: counters.deliveries, redeliveries: counters.redeliveries,
            retries: counters.retries, repliesLost: counters.repliesLost, finished: counters.finished,
            answerTimes: counters.answerTimes, answerMilliseconds: counters.answerMilliseconds,
            publications: publisher.counts, unconfirmed: publisher.unconfirmed)
    }

    private func picture(of route: Route) -> LaneSnapshot.Route {
        var troubles: [String] = []
        if let trouble = route.consumer.trouble { troubles.append(trouble) }
        switch route.breaker.state {
        case .parked: troubles.append("parked: APNs refuses the credential")
        case .probing: troubles.append("probing: APNs refused the credential")
        case .working: break
        }
        if !route.breaker.isReachable { troubles.append("no connection to APNs: \(route.connectTrouble ?? "connecting")") }
        return LaneSnapshot.Route(
            name: route.name, isReady: troubles.isEmpty && route.consumer.isConsuming, troubles: troubles,
            waiting: route.waiting.count + route.resends.count, openRequests: route.requests.count,
            unacknowledged: route.acknowledgements.unacknowledged, prefetch: route.consumer.currentPrefetch,
            streamLimit: route.pool?.streamLimit ?? 0)
    }
}
