internal import APNSClient
internal import EventLoop
internal import PushModel
internal import RabbitMQ

/// How a lane is doing, for readiness: what works, and what does not in words.
struct LaneStatus: Sendable {
    /// One route on the lane.
    struct Route: Sendable {
        /// The route's name.
        var name: String
        /// `ready`, `starting`, `parked`, `probing` or `unreachable`.
        var state: String
        /// Connections to APNs that can be used.
        var connections: Int
        /// The version of its credential in use.
        var credentialVersion: Int?
        /// Why it is not ready, in one line each.
        var troubles: [String]
        /// What keeps it from pushing more.
        var limitedBy: RouteLimit
    }

    /// The lane's number.
    var index: Int
    /// When it was taken: the proof that the lane turns.
    var takenAt: MonotonicTime
    /// Whether the lane was asked to finish.
    var isDraining: Bool
    /// `up`, `connecting` or `down`.
    var consume: String
    /// `up`, `blocked`, `connecting` or `down`.
    var publish: String
    /// Why it is not working as a whole, in one line each.
    var troubles: [String]
    /// Its routes.
    var routes: [Route]
}

extension Lane {
    /// How the lane is doing now.
    func status() -> LaneStatus {
        var troubles: [String] = []
        if consumeLink.session == nil {
            troubles.append("broker (consuming): \(consumeLink.trouble ?? "connecting")")
        }
        if publishLink.session == nil {
            troubles.append("broker (publishing): \(publishLink.trouble ?? "connecting")")
        }
        if let trouble = publisher.trouble {
            troubles.append(trouble)
        } else if publishLink.session != nil, !publisher.isOpen {
            troubles.append("broker (publishing): the channel is not open")
        }
        if publishLink.session?.isBlocked == true { troubles.append("blocked") }
        return LaneStatus(
            index: settings.index, takenAt: now, isDraining: drain != nil,
            consume: Self.word(for: consumeLink), publish: Self.word(for: publishLink), troubles: troubles,
            routes: report.statuses)
    }

    private func status(of route: Route, _ pool: APNSPoolStatus?) -> LaneStatus.Route {
        var troubles: [String] = []
        if let trouble = route.consumer.trouble { troubles.append(trouble) }
        troubles += route.credentialTroubles
        if route.breaker.isTroubled { troubles.append("APNs: it answers with nothing but errors of its own") }
        if let pool, !pool.isConnected {
            // A connection that comes about and ends at once says why when it ends.
            let trouble = route.connectTrouble ?? pool.lastError?.message ?? "connecting"
            troubles.append("APNs: \(trouble)")
        }
        for host in route.channelHosts { troubles += host.troubles }
        let isConnected = pool?.isConnected ?? true
        let state =
            switch route.breaker.state {
            case _ where route.breaker.isHeld: "parked"
            case .parked: "parked"
            case .probing: "probing"
            case .working where !isConnected: "unreachable"
            case .working: route.consumer.isServing ? "ready" : "starting"
            }
        return LaneStatus.Route(
            name: route.name, state: state, connections: pool?.usable ?? 0,
            credentialVersion: route.pool?.credential.version, troubles: troubles, limitedBy: limit(of: route))
    }

    /// What keeps a route from pushing more, as it is at the end of this turn.
    private func limit(of route: Route) -> RouteLimit {
        RouteSituation(
            intake: route.breaker.intake, isDraining: drain != nil, isServing: route.consumer.isServing,
            isCongested: publisher.isCongested, hasBacklog: route.hasBacklog, isRateReached: route.rateDue != nil,
            pool: route.pool?.limit ?? .nothing, unacknowledged: route.acknowledgements.unacknowledged,
            prefetch: route.consumer.currentPrefetch * route.queues.count, inFlight: route.requests.count
        ).limit
    }

    private static func word(for link: BrokerLink) -> String {
        guard let connection = link.session else { return link.trouble == nil ? "connecting" : "down" }
        return connection.isBlocked ? "blocked" : "up"
    }

    /// Everything counted so far.
    private func snapshot() -> LaneSnapshot {
        counters.longestTurnNanoseconds = longestTurn.value(now: now.nanoseconds)
        counters.isConsumerUp = consumeLink.session != nil
        counters.isPublisherUp = publishLink.session != nil
        counters.isBlocked = publishLink.session?.isBlocked == true
        counters.isJournalUp = settings.wantsJournal ? journal?.isOn == true : nil
        counters.unconfirmed = publisher.unconfirmed
        counters.publications = publisher.counts.publications
        counters.confirms = publisher.counts.confirms
        counters.brokerConnects = consumeLink.opened + publishLink.opened
        counters.brokerDisconnects = consumeLink.lost + publishLink.lost
        return LaneSnapshot(lane: counters, routes: report.counters)
    }

    /// Leaves a picture of the lane for others, with what is new of its routes.
    func leaveReport() {
        while let route = report.next() {
            let pool = route.pool?.status
            if let skew = pool?.clockSkew { watchClock(skew, of: route) }
            report.take(status(of: route, pool), route.gauged(pool, limitedBy: limit(of: route), now: now), of: route)
        }
        handle.publish(status(), snapshot())
    }
}

extension APNSPoolStatus {
    /// Connections that take pushes, the ones included on which the first push is still to prove the credential.
    fileprivate var usable: Int { proving + open }
}

extension Route {
    /// The route's counters with the gauges of this moment.
    fileprivate func gauged(_ pool: APNSPoolStatus?, limitedBy limit: RouteLimit, now: MonotonicTime) -> RouteCounters {
        counters.limitedBy = limit
        counters.coolingTokens = cooling.count(at: now.nanoseconds)
        counters.suspects = poison.heldCount
        counters.waiting = waiting.reduce(resends.count) { $0 + $1.unsent }
        counters.inFlight = requests.count
        counters.unacknowledged = acknowledgements.unacknowledged
        counters.connections = pool?.usable ?? 0
        counters.streamLimit = pool?.streamLimit ?? 0
        if let pool {
            counters.connectionsOpened = pool.opened
            counters.goAways = pool.goAways
        }
        counters.isParked = breaker.intake == .none
        return counters
    }
}
