import APNSClient
import EventLoop

/// What a route says of itself: what it does, what keeps it from pushing more, and the gauges. A report is made from
/// the parts of the route at one moment. It changes none of them.
struct RouteReport {
    /// What the lane and the operators want of the route.
    struct Circumstances {
        /// The time.
        var now = MonotonicTime(nanoseconds: 0)
        /// Whether the lane finishes, so that the route is to take no more jobs.
        var isDraining = false
        /// Whether this worker takes jobs of the route.
        var isServed = true
        /// What operators want of it.
        var control = RouteControl()
        /// How many of its queues producers fill.
        var jobQueues = 1
        /// Whether a rate holds it back.
        var isRateReached = false
        /// Whether it looks for expired jobs.
        var isLooking = false
    }

    private let circumstances: Circumstances
    private let hosts: RouteHosts
    private let credential: CredentialUse
    private let outbox: Outbox
    private let deliveries: RouteDeliveries
    private let consumer: RouteConsumer
    private let pool: APNSPoolStatus?

    /// The report of a route as it is now.
    ///
    /// - Parameters:
    ///   - circumstances: What the lane and the operators want of it.
    ///   - hosts: The hosts that it sends to.
    ///   - credential: Its credential.
    ///   - outbox: What it publishes.
    ///   - deliveries: Its deliveries.
    ///   - consumer: How it consumes.
    init(
        _ circumstances: Circumstances, hosts: RouteHosts, credential: CredentialUse, outbox: Outbox,
        deliveries: RouteDeliveries, consumer: RouteConsumer
    ) {
        (self.circumstances, self.hosts, self.credential) = (circumstances, hosts, credential)
        (self.outbox, self.deliveries, self.consumer) = (outbox, deliveries, consumer)
        pool = hosts.devices.pool?.status
    }

    /// The route's status for readiness.
    ///
    /// - Parameter name: The name of the route.
    func status(of name: String) -> LaneStatus.Route {
        LaneStatus.Route(
            name: name, state: state, connections: connections, credentialVersion: credential.present?.version,
            troubles: troubles, limitedBy: limit, stranger: circumstances.isServed ? strangers.first : nil,
            refusal: circumstances.isServed ? outbox.trouble : nil,
            isConsuming: takesAllJobs)
    }

    /// Writes the gauges of this moment into a route's counters.
    func write(to counters: inout RouteCounters) {
        let devices = hosts.devices
        counters.limitedBy = limit
        counters.suspects = deliveries.intake.heldCount
        counters.waiting = devices.unsent
        counters.inFlight = devices.inFlight
        counters.unacknowledged = deliveries.ledger.unacknowledged
        counters.bytesInFlight = deliveries.ledger.bytes
        counters.connections = connections
        counters.streamLimit = pool?.streamLimit ?? 0
        counters.connectionsOpened = devices.earlier.opened + (pool?.opened ?? 0)
        counters.goAways = devices.earlier.goAways + (pool?.goAways ?? 0)
        counters.isAssigned = circumstances.isServed
        counters.isParked = devices.breaker.intake == .none
        counters.state = state
    }

    /// Connections to APNs that can be used.
    private var connections: Int { pool.map { $0.proving + $0.open } ?? 0 }

    /// What the route does now. A route is not `unreachable` while it needs no connection, or while its first connect
    /// is under way.
    private var state: RouteState {
        let breaker = hosts.devices.breaker
        return switch breaker.state {
        case _ where !circumstances.isServed: .unassigned
        case _ where circumstances.control.pause != nil: .paused
        case _ where breaker.isHeld: .parked
        case .parked: .parked
        case .probing: .probing
        case .working where pool?.isConnected == false: .unreachable
        case .working: consumer.isServing ? .ready : .starting
        }
    }

    /// Whether it consumes its queues to push all that is in them: not for a probe, nor to look for expired jobs.
    private var takesAllJobs: Bool {
        consumer.mayReceive && hosts.devices.breaker.intake == .full && !circumstances.isLooking
    }

    /// Why it is not ready, in one line each.
    private var troubles: [String] {
        // Other troubles of a route that is not served here do not matter.
        guard circumstances.isServed else { return credential.troubles }
        var troubles = [circumstances.control.reason, consumer.trouble, outbox.trouble].compactMap(\.self)
        troubles += credential.troubles + strangers
        if hosts.devices.breaker.isTroubled {
            troubles.append("APNs: it answers with nothing but errors of its own")
        }
        if let pool, pool.isConnected != true {
            // A connection that ends right after it opened says why only when it ends.
            let trouble = hosts.devices.trouble ?? pool.lastError?.message ?? "connecting"
            troubles.append("APNs: \(trouble)")
        }
        for host in hosts.broadcastChannels { troubles += host.broadcastChannelTroubles }
        return troubles
    }

    /// What answers in the place of its hosts.
    private var strangers: [String] { hosts.all.compactMap { $0.stranger(at: circumstances.now) } }

    /// The limit that keeps the route from pushing more, at the end of a turn.
    private var limit: RouteLimit {
        let devices = hosts.devices
        return RouteSituation(
            intake: devices.breaker.intake,
            isDraining: circumstances.isDraining || !circumstances.isServed || circumstances.control.isHalted,
            isServing: consumer.isServing, isCongested: outbox.isCongested, hasBacklog: devices.hasWaiting,
            isRateReached: circumstances.isRateReached, pool: devices.pool?.limit ?? .nothing,
            unacknowledged: deliveries.ledger.unacknowledged,
            prefetch: consumer.currentPrefetch * circumstances.jobQueues, inFlight: devices.inFlight
        ).limit
    }
}
