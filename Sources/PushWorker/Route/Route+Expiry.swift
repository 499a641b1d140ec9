import EventLoop
import PushModel
import RabbitMQ

// A stopped route reports what expires in its queues. `ExpiryLook` decides when it looks.
extension Route {
    /// Begins and ends looks at the route's queues, and sorts out the jobs that they brought.
    func lookForExpired(at moment: Moment, _ condition: LaneCondition) {
        guard devices.breaker.stoppedSince != nil else {
            // Nearly every turn ends here.
            guard expiryLook.hasBegun || expiryLook.isLooking || expiryLook.isEnding else { return }
            expiryLook.routeWorks()
            return stepLook(mayLook: false, at: moment)
        }
        if deliveries.intake.hasSuspects { expiryLook.forbid() }
        let mayLook = mayLookForExpired(condition)
        if mayLook, expiryLook.hasBegun { sortOut(at: moment) }
        stepLook(mayLook: mayLook, at: moment)
    }

    private func mayLookForExpired(_ condition: LaneCondition) -> Bool {
        // One lane looks for all, and only in workers that serve the route.
        guard isServed, isFirstLane, claim != nil, devices.breaker.intake == .none, devices.breaker.mayHandBack else {
            return false
        }
        guard !condition.isDraining, !condition.isHeldUp, !outbox.isHeldUp, !outbox.isCongested else { return false }
        return !deliveries.intake.hasSuspects && !deliveries.suspects.makesRoom && !surroundings.policy.tiers.isEmpty
    }

    private func stepLook(mayLook: Bool, at moment: Moment) {
        let stopped = hosts.all.filter { $0.kind == .devices || $0.breaker.intake == .none }
        let situation = ExpiryLook.Situation(
            mayLook: mayLook, probeAt: devices.breaker.probeAt, isConsuming: consumer.isConsuming,
            mayReceive: consumer.mayReceive, delivered: tally.counters.jobsReceived,
            waiting: stopped.reduce(0) { $0 + $1.waiting.count + $1.resends.count },
            unacknowledged: deliveries.ledger.unacknowledged)
        expiryLook.next(situation, now: moment.monotonic, random: &random)
    }

    /// Reports the jobs that have expired. Once no more jobs can arrive, the others go into tiers, so that the next
    /// look finds the jobs behind them. The first one stays if a probe needs it.
    private func sortOut(at moment: Moment) {
        for host in hosts.all where host.breaker.intake == .none && host.refusal == nil {
            var unsent = 0
            while !outbox.isCongested, unsent < Self.mostSettledUnsent,
                let (job, tier) = takeOne(from: host, at: moment)
            {
                while let index = job.nextIndex() {
                    unsent += 1
                    let notification = Notification(job: job, index: index)
                    if settlement.isSettledUnsent(notification, on: host, at: moment) { continue }
                    if let tier { settlement.postpone(notification, to: tier, at: moment) }
                }
            }
            goesOnAtOnce = goesOnAtOnce || unsent >= Self.mostSettledUnsent
        }
    }

    /// The next job that need not stay, and the tier in which it waits; no tier for an expired job.
    private func takeOne(from host: Destination, at moment: Moment) -> (JobInFlight, tier: Int?)? {
        var keepsProbe = host.kind == .devices && host.breaker.awaitsProbe
        var tier: Int?
        let job = host.takeUnstarted { job in
            if job.job.isExpired(at: moment.wall) {
                expiryLook.found()
                return true
            }
            // Copies made during a look would let in more than a window.
            guard !expiryLook.isLooking, !consumer.mayReceive else { return false }
            guard !keepsProbe else {
                keepsProbe = false
                return false
            }
            tier = restingTier(of: job, at: moment)
            return tier != nil
        }
        return job.map { ($0, tier) }
    }

    /// The tier in which a job waits for about as long again as the route has been stopped. So a short outage does not
    /// delay a job for long, and a long one makes few copies.
    private func restingTier(of job: JobInFlight, at moment: Moment) -> Int? {
        let stopped = devices.breaker.stoppedSince.map { moment.monotonic - $0 } ?? .zero
        return surroundings.policy.postponingTier(
            atMost: stopped, job: AttemptFacts(job.job), now: moment.wall)
    }

    /// The arguments of the route's consumers.
    var consumerArguments: FieldTable {
        guard expiryLook.isLooking else { return FieldTable() }
        return FieldTable(entries: [
            .init(name: Array("x-priority".utf8), value: .integer(ExpiryLook.consumerPriority))
        ])
    }
}
