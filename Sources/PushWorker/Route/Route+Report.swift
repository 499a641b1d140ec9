import APNSClient
import EventLoop
import PushModel
import Synchronization
import Topology

// The reports of a route about itself.
extension Route {
    /// Learns how far this clock is ahead of APNs'.
    ///
    /// - Returns: By how many seconds this clock is ahead, and whether it is wrong; nil for no news.
    func learnClock() -> (skew: Int64, isWrong: Bool)? {
        guard let skew = devices.pool?.status.clockSkew else { return nil }
        tally.counters.clockSkew = Int(clamping: skew)
        return shared.clock.withLock { $0.learned(skew) }.map { (skew, $0) }
    }

    /// The route's status and counters, with the gauges of this moment.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - isDraining: Whether the lane finishes, so that the route is to take no more jobs.
    func report(at moment: Moment, isDraining: Bool) -> (status: LaneStatus.Route, counters: RouteCounters) {
        let pool = devices.pool?.status
        let limit = limit(isDraining: isDraining)
        let usable = pool.map { $0.proving + $0.open } ?? 0
        tally.counters.limitedBy = limit
        // The lanes' reports are added up.
        tally.counters.coolingTokens = isFirstLane ? shared.cooling.count(at: moment.monotonic) : 0
        tally.counters.suspects = deliveries.intake.heldCount
        tally.counters.waiting = devices.unsent
        tally.counters.inFlight = devices.inFlight
        tally.counters.unacknowledged = deliveries.ledger.unacknowledged
        tally.counters.bytesInFlight = deliveries.ledger.bytes
        tally.counters.connections = usable
        tally.counters.streamLimit = pool?.streamLimit ?? 0
        tally.counters.connectionsOpened = devices.earlier.opened + (pool?.opened ?? 0)
        tally.counters.goAways = devices.earlier.goAways + (pool?.goAways ?? 0)
        tally.counters.isAssigned = isServed
        tally.counters.isParked = devices.breaker.intake == .none
        tally.counters.deadTokens = shared.deadTokens.knowledge
        tally.counters.holdsTokens = tally.counters.deadTokens?.holds == true
        tally.counters.state = state(isUnreachable: pool?.isConnected == false)
        let status = LaneStatus.Route(
            name: name, state: tally.counters.state, connections: usable,
            credentialVersion: credential.present?.version, troubles: troubles(pool), limitedBy: limit,
            refusal: isServed ? outbox.trouble : nil,
            consumers: takesAllJobs ? 1 : 0)
        return (status, tally.counters)
    }

    /// A route that needs no connection is as ready as one whose first connect is under way.
    private func state(isUnreachable: Bool) -> RouteState {
        switch devices.breaker.state {
        case _ where !isServed: .unassigned
        case _ where control.pause != nil: .paused
        case _ where devices.breaker.isHeld: .parked
        case .parked: .parked
        case .probing: .probing
        case .working where isUnreachable: .unreachable
        case .working: consumer.isServing ? .ready : .starting
        }
    }

    /// Whether it consumes its queues to push all that is in them: not for a probe, nor to look for expired jobs.
    private var takesAllJobs: Bool {
        consumer.mayReceive && devices.breaker.intake == .full && !expirySearch.look.isLooking
    }

    private func troubles(_ pool: APNSPoolStatus?) -> [String] {
        // Other troubles of a route that is not served here do not matter.
        guard isServed else { return credential.troubles }
        var troubles = [control.reason].compactMap(\.self)
        if let trouble = consumer.trouble { troubles.append(trouble) }
        if let trouble = outbox.trouble { troubles.append(trouble) }
        troubles += credential.troubles
        if devices.breaker.isTroubled { troubles.append("APNs: it answers with nothing but errors of its own") }
        if let pool, pool.isConnected != true {
            // A connection that ends right after it opened says why only when it ends.
            let trouble = devices.trouble ?? pool.lastError?.message ?? "connecting"
            troubles.append("APNs: \(trouble)")
        }
        for host in hosts.broadcastChannels { troubles += host.broadcastChannelTroubles }
        return troubles
    }

    /// How many queues producers fill.
    private var jobQueues: Int { queues.count { !$0.hasSuffix(TopologyNames.returnSuffix) } }

    /// The limit that keeps the route from pushing more, at the end of a turn.
    private func limit(isDraining: Bool) -> RouteLimit {
        RouteSituation(
            intake: devices.breaker.intake, isDraining: isDraining || !isServed || control.isHalted,
            isServing: consumer.isServing, isCongested: outbox.isCongested, hasBacklog: devices.hasWaiting,
            isRateReached: rates.nextDue != nil, pool: devices.pool?.limit ?? .nothing,
            unacknowledged: deliveries.ledger.unacknowledged, prefetch: consumer.currentPrefetch * jobQueues,
            inFlight: devices.inFlight
        ).limit
    }
}
