import APNSClient
import EventLoop
import PushModel

/// Decides what becomes of a route's jobs that wait and cannot be sent.
///
/// - A job that was not begun goes back to the broker.
/// - The rest of a job that was begun goes into a tier.
/// - A job about broadcast channels does not wait for long: it goes into a tier, or ends.
///
/// Confined to its lane. Time comes in.
final class RouteBacklog {
    private let policy: RetryPolicy
    private let hosts: RouteHosts
    private let deliveries: RouteDeliveries
    private let outbox: Outbox
    private let settlement: RouteSettlement
    private let search: ExpirySearch
    private let rates: RouteRates
    private let tally: RouteTally
    private let queues: Int
    /// Whether jobs go back because a lower rate would keep them here for too long.
    private(set) var givesBackExcess = false

    /// The backlog of one route.
    ///
    /// - Parameters:
    ///   - policy: Says in which tiers jobs wait.
    ///   - hosts: Where the jobs wait.
    ///   - deliveries: Gives deliveries back.
    ///   - outbox: Has the jobs that are refused.
    ///   - settlement: Settles what goes into a tier.
    ///   - search: Takes care of the jobs of a stopped route once a look has begun.
    ///   - rates: Hold the route back.
    ///   - tally: Counts.
    ///   - queues: How many queues the route has.
    init(
        _ policy: RetryPolicy, hosts: RouteHosts, deliveries: RouteDeliveries, outbox: Outbox,
        settlement: RouteSettlement, search: ExpirySearch, rates: RouteRates, tally: RouteTally, queues: Int
    ) {
        (self.policy, self.hosts, self.deliveries, self.outbox) = (policy, hosts, deliveries, outbox)
        (self.settlement, self.search, self.rates) = (settlement, search, rates)
        (self.tally, self.queues) = (tally, queues)
    }

    private var devices: Destination { hosts.devices }

    // MARK: Multicast jobs that were begun

    /// Sends the rest of multicast jobs that were begun into a tier, if this rest would wait for long here, or the
    /// worker leaves. Then the deliveries of these jobs can be acknowledged.
    ///
    /// Notifications that cannot go into a tier stay until they expire. Their expiry is checked here, because otherwise
    /// only sending checks it.
    func splitBegun(at moment: Moment, _ condition: LaneCondition) {
        guard
            let delay = devices.breaker.splitDelay(
                isDraining: condition.isDraining, isLeaving: condition.isLeaving)
        else { return }
        func tier(of job: JobInFlight) -> Int? {
            policy.restingTier(remaining: delay, job: AttemptFacts(job.job), now: moment.wall)
        }
        let begun = devices.takeBegun { tier(of: $0) != nil || $0.job.isExpired(at: moment.wall) }
        for notification in begun {
            if let tier = tier(of: notification.job) {
                settlement.postpone(notification, to: tier, at: moment)
            } else {
                settlement.settle(notification, .expired, on: devices, at: moment)
            }
        }
    }

    /// Sends the rest of a multicast job that a rate has kept half sent for long into a tier, so that its delivery can
    /// be acknowledged in time (`SlowJobs`).
    func splitSlow(at moment: Moment) {
        for jobClass in JobClass.allCases where jobClass == .normal || devices.takesHighFirst {
            let job = rates.current == nil ? nil : devices.begun(jobClass)
            guard rates.keepsTooLong(job, of: jobClass, now: moment.monotonic), let job,
                let tier = policy.restingTier(remaining: .zero, job: AttemptFacts(job.job), now: moment.wall)
            else { continue }
            for notification in devices.takeBegun(where: { $0 === job }) {
                settlement.postpone(notification, to: tier, at: moment)
            }
        }
    }

    /// Clears a halted route of jobs that cannot go back to their queue, because a part of each was sent. Their rest
    /// goes into a tier. From there it comes back to a queue of the route, where all jobs of the route wait.
    func clearHalted(at moment: Moment) {
        for host in hosts.all where host.hasWaiting {
            for notification in host.takeTouched() { settlement.pause(notification, at: moment) }
        }
    }

    // MARK: Jobs that were not begun

    /// Another rate counts.
    ///
    /// - Parameter isLower: Whether it allows less, and the prefetch follows it.
    func rateChanged(isLower: Bool) { givesBackExcess = isLower && isTooLong }

    /// Gives jobs that were not begun back to the broker, so that another worker can take them.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - condition: What concerns all routes of the lane.
    ///   - mayReceive: Whether a consumer of the route may still be served.
    /// - Returns: Whether the jobs that a lower rate would have kept here for too long went back now, so that the route
    ///   can go on.
    func handBack(at moment: Moment, _ condition: LaneCondition, mayReceive: @autoclosure () -> Bool) -> Bool {
        // A route that cannot work gives its jobs back in the end, because another worker may be able to work.
        let isGivingUp = devices.breaker.intake == .none && (condition.isDraining || shouldHandBack)
        // Results that cannot leave are kept, but jobs that were not sent may go to a worker whose results can leave.
        guard outbox.isHeldUp || condition.isHeldUp || isGivingUp || condition.isLeaving else { return false }
        // Not while a consumer of this route may still get messages: the broker would deliver the jobs back to it at
        // once.
        let mayReceive = mayReceive()
        let canRequeue = deliveries.ledger.isOpen && !mayReceive
        let mayGoBack: (JobInFlight) -> Bool = { canRequeue && self.deliveries.ledger.holds($0) }
        var unsent = devices.takeUnsent(where: mayGoBack)
        if hosts.hasBroadcastWork, condition.isDraining {
            for host in hosts.broadcastChannels { unsent += host.takeUnsent(where: mayGoBack) }
        }
        if canRequeue { unsent += outbox.takeUnreported() }
        tally.counters.jobsHandedBack += unsent.count
        for job in unsent { deliveries.giveBack(job, at: moment) }
        if canRequeue { tally.counters.jobsHandedBack += deliveries.giveBackSuspects(at: moment) }
        guard givesBackExcess, !mayReceive else { return false }
        givesBackExcess = false
        return true
    }

    /// Whether a stopped route gives its unsent jobs back. While a probe is awaited, they go back only if there are
    /// more of them than queues. Otherwise they stay for the probe, because every return counts towards poison.
    var shouldHandBack: Bool {
        // Jobs that a look for expired ones brought here stay or go into tiers, because every return counts.
        guard devices.breaker.mayHandBack, !search.look.hasBegun else { return false }
        guard devices.breaker.awaitsProbe else { return true }
        return devices.waiting.count + devices.resends.count + deliveries.intake.heldCount > queues
    }

    /// Whether the jobs that wait would need more than 900 s at the present rate. That is half of RabbitMQ's patience
    /// with a consumer (`consumer_timeout`, 30 minutes). A smaller prefetch does not take back jobs that are here
    /// already.
    private var isTooLong: Bool {
        // No more than one job for each queue may stay: a multicast job has a limit of its own (`SlowJobs`).
        guard let rate = rates.current, devices.waiting.count > queues else { return false }
        return Double(devices.unsent) > rate.perSecond * 900
    }

    // MARK: Jobs about broadcast channels

    /// Answers jobs with the last refusal of the credential instead of asking APNs again. Most of these jobs then wait
    /// in a tier. The first job that no tier can take waits here, as the next probe. Further jobs that no tier can take
    /// are reported. If they waited here, the broker could not deliver anything else of the route.
    func answerRefused(_ host: Destination, at moment: Moment) {
        guard let refusal = host.refusal else { return }
        let heldBack = Attempted.heldBack(refusal)
        var probe: Notification?
        while let notification = host.next() {
            let job = notification.job.job
            if job.isExpired(at: moment.wall) {
                settlement.settle(notification, .expired, on: host, at: moment)
                continue
            }
            let facts = AttemptFacts(job, probeDelay: host.breaker.probeDelay)
            let hasTier = if case .park = policy.settle(heldBack, job: facts, now: moment.wall) { true } else { false }
            guard hasTier || probe != nil else {
                probe = notification
                continue
            }
            settlement.settle(notification, heldBack, on: host, at: moment)
        }
        if let probe { host.resend(probe) }
    }

    /// Tells all jobs that wait for a host that it cannot be reached.
    func giveUp(_ host: Destination, at moment: Moment) {
        let why = host.trouble ?? "no connection to \(host.connector?.endpoint.description ?? "the host") is usable"
        while let notification = host.next() {
            settlement.settle(notification, .unreachable(why), on: host, at: moment)
        }
    }
}
