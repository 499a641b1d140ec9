import APNSClient
import EventLoop
import PushModel

// From a job that waits to requests that are submitted, or to a settlement where no request is needed.
extension Route {
    /// The most notifications that one turn settles without a request, such as those of a cancelled campaign: about a
    /// millisecond's worth. Batches of their results count for little against `Publisher.congestion`, so that does not
    /// bound them.
    static let mostSettledUnsent = 256

    /// Sends as much as streams, window, rate and breaker of a destination allow.
    ///
    /// - Parameters:
    ///   - destination: Where to.
    ///   - onlyHigh: Whether normal jobs have to wait although there is room for them.
    ///   - moment: The time.
    func send(to destination: Destination, onlyHigh: Bool = false, at moment: Moment) {
        guard destination.breaker.intake != .none else { return answerParked(destination, at: moment) }
        guard destination.hasWaiting, var room = destination.room else { return }
        if onlyHigh { room.keepNormalOut() }
        // A route's own probe waits for nothing, though it counts: until it is answered nothing else is sent.
        let isProbe = destination.kind == .devices && destination.breaker.intake == .one
        if !isProbe { rates.take(&room, isUrgent: destination.hasHighWaiting, now: moment.monotonic) }
        let taken = room.total
        defer { rates.giveBack(isProbe ? room.total - taken : room.total) }
        // A notification that is settled without a request needs no free stream. Its result needs room.
        var unsent = 0
        while !outbox.isCongested, unsent < Self.mostSettledUnsent, let notification = destination.next(in: room) {
            if settlement.isSettledUnsent(notification, on: destination, at: moment) {
                unsent += 1
                continue
            }
            FailPoint.reached(.beforeSend)
            guard destination.submit(notification, at: moment) else { return }
            tally.counters.requests += 1
            destination.sent(notification, in: &room)
        }
        goesOnAtOnce = goesOnAtOnce || unsent == Self.mostSettledUnsent
    }

    /// Sends the rest of multicast jobs that were begun into a tier, where they would wait for long or their worker
    /// leaves. Then the broker can be told that the jobs themselves are settled.
    ///
    /// Notifications that no tier can bring back in time stay until their time is over. That time is looked at here,
    /// because nothing is sent.
    func splitBegun(at moment: Moment, _ condition: LaneCondition) {
        guard
            let delay = devices.breaker.splitDelay(
                isDraining: condition.isDraining, isLeaving: condition.isLeaving)
        else { return }
        func tier(of job: JobInFlight) -> Int? {
            surroundings.policy.restingTier(
                remaining: delay, job: AttemptFacts(job.job), now: moment.wall)
        }
        let begun = devices.takeBegun { tier(of: $0) != nil || $0.job.isExpired(at: moment.wall) }
        for notification in begun {
            let job = notification.job
            if let tier = tier(of: job) {
                settlement.postpone(notification, to: tier, at: moment)
            } else {
                settlement.settle(notification, .expired, on: devices, at: moment)
            }
        }
    }

    /// Sends the rest of a multicast job that a rate keeps here for long into a tier, so that what is settled of it is
    /// acknowledged in time.
    func splitSlow(at moment: Moment) {
        for jobClass in JobClass.allCases where jobClass == .normal || devices.takesHighFirst {
            let job = rates.current == nil ? nil : devices.begun(jobClass)
            guard rates.keepsTooLong(job, of: jobClass, now: moment.monotonic), let job,
                let tier = surroundings.policy.restingTier(
                    remaining: .zero, job: AttemptFacts(job.job), now: moment.wall)
            else { continue }
            for notification in devices.takeBegun(where: { $0 === job }) {
                settlement.postpone(notification, to: tier, at: moment)
            }
        }
    }

    // MARK: Answers

    /// APNs answered a request, or provably or possibly did not.
    func answered(_ tag: Int, _ answer: PushAnswer, on destination: Destination, at moment: Moment) {
        settlement.answered(tag, answer, on: destination, at: moment)
    }

    // MARK: Connections

    /// A connect to a destination is over.
    ///
    /// - Returns: What the log has to tell about reaching the host; nil for nothing.
    func connected(
        _ kind: Destination.Kind, _ result: Result<EstablishedConnection, APNSClientError>,
        for request: ConnectRequest, at moment: Moment
    ) -> OutageLog.News? {
        guard let host = hosts[kind] else { return nil }
        let failure = host.connected(result, for: request, at: moment)
        if failure != nil, kind == .devices { tally.counters.connectionsFailed += 1 }
        return host.reached(failure, now: moment.monotonic)
    }

    /// A destination's connections take more than before, or the last of them is gone.
    func capacityChanged(of destination: Destination, at moment: Moment) {
        // The breaker of a host for broadcast channels hears nothing of it: its connections are closed when nobody
        // needs them.
        guard destination.kind == .devices, let isConnected = destination.pool?.isConnected else { return }
        destination.breaker.connectivityChanged(isConnected: isConnected, now: moment.monotonic)
    }

    /// Opens the connections to a host when a job needs them, and closes those that nobody needs.
    func connect(_ host: Destination, at moment: Moment) {
        guard !host.isSettled(at: moment) else { return }
        var situation = OnDemandStateMachine.Situation(
            hasWaiting: host.hasWaiting, intake: host.breaker.intake,
            isCongested: outbox.isCongested || control.isHalted)
        // Asked only for a job, because the answer wakes the lane when the rate allows the next.
        if situation.wantsConnection { situation.isWithinRate = rates.allowsOne(now: moment.monotonic) }
        switch host.nextStep(isWanted: situation.wantsConnection, at: moment) {
        case .open: surroundings.open(self, host)
        case .close: rest(host)
        case .giveUp:
            host.close()
            giveUp(host, at: moment)
        case nil: break
        }
    }

    /// Closes the connections of a route that others serve, once everything that it had is done: they have their own.
    func restIfUnserved() {
        guard !isServed, devices.pool != nil, isDrained else { return }
        rest(devices)
    }

    /// Closes connections that nobody needs.
    func rest(_ host: Destination) {
        credential.keepVersions(of: host)
        host.rest()
    }

    // MARK: Broadcast channels

    /// Opens, fills, flushes and closes the connections to the hosts of broadcast channels.
    func advanceBroadcastHosts(at moment: Moment) {
        for host in hosts.broadcastChannels where !host.isAsleep {
            host.breaker.tick(now: moment.monotonic)
            connect(host, at: moment)
            if !outbox.isCongested, !control.isHalted { send(to: host, at: moment) }
            // A probe after a refusal needs the connections that the refusal closed.
            if host.breaker.intake != .none { host.pool?.retryCredential(now: moment.monotonic) }
            host.flush(hasBacklog: host.hasWaiting, at: moment)
        }
        hosts.advanced()
    }

    /// Answers jobs with the refusal of the credential that was seen last, instead of asking APNs again: most wait in a tier.
    /// The first that no tier can take waits here, as the next probe; more of those would keep the broker from
    /// delivering anything else of the route.
    private func answerParked(_ host: Destination, at moment: Moment) {
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
            let settlement = surroundings.policy.settle(heldBack, job: facts, now: moment.wall)
            let hasTier = if case .park = settlement { true } else { false }
            guard hasTier || probe != nil else {
                probe = notification
                continue
            }
            settlement.settle(notification, heldBack, on: host, at: moment)
        }
        if let probe { host.resend(probe) }
    }

    /// Tells all jobs that wait for a host that it cannot be reached.
    private func giveUp(_ host: Destination, at moment: Moment) {
        let why = host.trouble ?? "no connection to \(host.connector?.endpoint.description ?? "the host") is usable"
        while let notification = host.next() {
            settlement.settle(notification, .unreachable(why), on: host, at: moment)
        }
    }

    /// Gives jobs that were not begun back to the broker, where another worker may do better with them.
    func handBack(at moment: Moment, _ condition: LaneCondition) {
        // A route that cannot work gives its jobs back in the end, because another worker may be able to work.
        let isGivingUp = devices.breaker.intake == .none && (condition.isDraining || shouldHandBack)
        // Results that cannot leave are kept, but jobs that were not sent may go to a worker whose results can.
        guard outbox.isHeldUp || condition.isHeldUp || isGivingUp || condition.isLeaving else { return }
        // Not while a consumer of ours may still be served: the broker would deliver the jobs straight back to us. What was
        // lent goes back on another lane's channel.
        let canRequeue = deliveries.ledger.isOpen && !consumer.mayReceive
        let mayGoBack: (JobInFlight) -> Bool = { $0.lent != nil || canRequeue && self.deliveries.ledger.holds($0) }
        var unsent = devices.takeUnsent(where: mayGoBack)
        if hosts.hasBroadcastWork, condition.isDraining {
            for host in hosts.broadcastChannels { unsent += host.takeUnsent(where: mayGoBack) }
        }
        if canRequeue { unsent += outbox.takeUnreported() }
        tally.counters.jobsHandedBack += unsent.count
        for job in unsent { deliveries.giveBack(job, at: moment) }
        if canRequeue { tally.counters.jobsHandedBack += deliveries.giveBackSuspects(at: moment) }
    }

    /// Whether a stopped route gives its unsent jobs back. Up to one job per queue stays for the next probe, because every
    /// return counts towards poison.
    var shouldHandBack: Bool {
        // Jobs taken since then stay or go into tiers, because each time a job is given back counts.
        guard devices.breaker.mayHandBack, !expiryLook.hasBegun else { return false }
        guard devices.breaker.awaitsProbe else { return true }
        return devices.waiting.count + devices.resends.count + deliveries.intake.heldCount > queues.count
    }
}
