import EventLoop
import PushModel
import RabbitMQ

/// The search of a stopped route for jobs that expire in its queues. The search reports expired jobs. Other jobs that
/// it finds go into tiers. `ExpiryLook` decides when the route looks.
///
/// Confined to its lane. Time comes in.
final class ExpirySearch {
    private let policy: RetryPolicy
    private let hosts: RouteHosts
    private let deliveries: RouteDeliveries
    private let outbox: Outbox
    private let settlement: RouteSettlement
    private let tally: RouteTally
    private var random: Randomness
    /// Decides when the route looks.
    private(set) var look = ExpiryLook()

    /// A search that has not begun.
    ///
    /// - Parameters:
    ///   - policy: Says in which tiers jobs wait.
    ///   - hosts: Have the jobs that were found.
    ///   - deliveries: The route's deliveries.
    ///   - outbox: Says whether results can leave.
    ///   - settlement: Settles what was found.
    ///   - tally: Says how many deliveries there were.
    ///   - random: Spreads the looks of many workers.
    init(
        _ policy: RetryPolicy, hosts: RouteHosts, deliveries: RouteDeliveries, outbox: Outbox,
        settlement: RouteSettlement, tally: RouteTally, random: Randomness
    ) {
        self.random = random
        (self.policy, self.hosts, self.deliveries) = (policy, hosts, deliveries)
        (self.outbox, self.settlement, self.tally) = (outbox, settlement, tally)
    }

    /// The arguments of the route's consumers.
    var consumerArguments: FieldTable {
        guard look.isLooking else { return FieldTable() }
        return FieldTable(entries: [
            .init(name: Array("x-priority".utf8), value: .integer(ExpiryLook.consumerPriority))
        ])
    }

    /// Begins and ends looks at the route's queues, and sorts out the jobs that they brought.
    ///
    /// - Parameters:
    ///   - isAllowed: Whether this lane may look: one lane does so for all, and only in a worker that serves the route.
    ///   - isConsuming: Whether each queue is consumed.
    ///   - mayReceive: Whether deliveries can still arrive.
    ///   - moment: The time.
    /// - Returns: Whether there is more to sort out, in the next turn.
    func goOn(
        isAllowed: Bool, isConsuming: @autoclosure () -> Bool, mayReceive: @autoclosure () -> Bool, at moment: Moment
    ) -> Bool {
        let isStopped = hosts.devices.breaker.stoppedSince != nil
        if !isStopped {
            // Nearly every turn ends here.
            guard look.hasBegun || look.isLooking || look.isEnding else { return false }
            look.routeWorks()
        } else if deliveries.intake.hasSuspects {
            look.forbid()
        }
        let mayLook = isStopped && isAllowed && hasReason
        let canReceive = mayReceive()
        let hasMore = mayLook && look.hasBegun && sortOut(mayReceive: canReceive, at: moment)
        let stopped = hosts.all.filter { $0.kind == .devices || $0.breaker.intake == .none }
        let situation = ExpiryLook.Situation(
            mayLook: mayLook, probeAt: hosts.devices.breaker.probeAt, isConsuming: isConsuming(),
            mayReceive: canReceive, delivered: tally.counters.jobsReceived,
            waiting: stopped.reduce(0) { $0 + $1.waiting.count + $1.resends.count },
            unacknowledged: deliveries.ledger.unacknowledged)
        look.next(situation, now: moment.monotonic, random: &random)
        return hasMore
    }

    /// Whether the route has been stopped for long enough, and nothing of its own forbids a look.
    private var hasReason: Bool {
        let breaker = hosts.devices.breaker
        guard breaker.intake == .none, breaker.mayHandBack, !outbox.isHeldUp, !outbox.isCongested else { return false }
        return !deliveries.intake.hasSuspects && !policy.tiers.isEmpty
    }

    /// Reports the jobs that have expired. Once no more jobs can arrive, the other jobs go into tiers, so that the next
    /// look finds the jobs behind them. The first of the other jobs stays if a probe needs it. Jobs that no tier brings
    /// back in time stay, too.
    ///
    /// - Returns: Whether there may be more jobs than were sorted out.
    private func sortOut(mayReceive: Bool, at moment: Moment) -> Bool {
        var hasMore = false
        for host in hosts.all where host.breaker.intake == .none && host.refusal == nil {
            var unsent = 0
            while !outbox.isCongested, unsent < RouteSettlement.mostSettledUnsent,
                let (job, tier) = takeOne(from: host, mayReceive: mayReceive, at: moment)
            {
                while let notification = job.next() {
                    unsent += 1
                    if let cleared = settlement.clear(notification, on: host, at: moment), let tier {
                        settlement.postpone(cleared.notification, to: tier, at: moment)
                    }
                }
            }
            hasMore = hasMore || unsent >= RouteSettlement.mostSettledUnsent
        }
        return hasMore
    }

    /// The next job that need not stay, and the tier in which the job is to wait; no tier for an expired job.
    private func takeOne(
        from host: Destination, mayReceive: Bool, at moment: Moment
    ) -> (JobInFlight, tier: Int?)? {
        var keepsProbe = host.kind == .devices && host.breaker.awaitsProbe
        var tier: Int?
        let job = host.takeUnstarted { job in
            if job.job.isExpired(at: moment.wall) {
                look.found()
                return true
            }
            // A copy makes room for another delivery. Copies made during a look would let in more jobs than a window.
            guard !look.isLooking, !mayReceive else { return false }
            guard !keepsProbe else {
                keepsProbe = false
                return false
            }
            tier = restingTier(of: job, at: moment)
            return tier != nil
        }
        return job.map { ($0, tier) }
    }

    /// The retry tier in which a job waits for about as long again as the route has been stopped. So a short outage does not
    /// delay a job for long, and a long outage makes few copies. Nil if no tier brings the job back in time.
    ///
    /// It is no holding tier: those may be full of other apps' jobs, and a job must not end because its route stands
    /// still. A look takes at most `ExpiryLook.window` jobs of a queue, and looks are a minute apart.
    private func restingTier(of job: JobInFlight, at moment: Moment) -> Int? {
        let stopped = hosts.devices.breaker.stoppedSince.map { moment.monotonic - $0 } ?? .zero
        return policy.postponingTier(atMost: stopped, job: AttemptFacts(job.job), now: moment.wall)
    }
}
