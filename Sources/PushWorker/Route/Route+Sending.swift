import APNSClient
import EventLoop
import PushModel

// From a job that waits to requests that are submitted, or to a settlement where no request is needed.
extension Route {
    /// Sends as much as streams, window, rate and breaker of a destination allow.
    ///
    /// - Parameters:
    ///   - destination: Where to.
    ///   - onlyHigh: Whether normal jobs have to wait although there is room for them.
    ///   - moment: The time.
    func send(to destination: Destination, onlyHigh: Bool = false, at moment: Moment) {
        guard destination.breaker.intake != .none, destination.hasWaiting, var room = destination.room else { return }
        if onlyHigh { room.keepNormalOut() }
        // A route's own probe waits for nothing, though it counts: until it is answered nothing else is sent.
        let isProbe = destination.kind == .devices && destination.breaker.intake == .one
        if !isProbe { rates.take(&room, isUrgent: destination.hasHighWaiting, now: moment.monotonic) }
        let taken = room.total
        defer { rates.giveBack(isProbe ? room.total - taken : room.total) }
        // A notification that is settled without a request needs no free stream. Its result needs room.
        var unsent = 0
        while !outbox.isCongested, unsent < RouteSettlement.mostSettledUnsent,
            let notification = destination.next(in: room)
        {
            if settlement.isSettledUnsent(notification, on: destination, at: moment) {
                unsent += 1
                continue
            }
            FailPoint.reached(.beforeSend)
            guard destination.submit(notification, at: moment) else { return }
            tally.counters.requests += 1
            destination.sent(notification, in: &room)
        }
        goesOnAtOnce = goesOnAtOnce || unsent == RouteSettlement.mostSettledUnsent
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
            backlog.giveUp(host, at: moment)
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
            if !outbox.isCongested, !control.isHalted {
                if host.breaker.intake == .none {
                    backlog.answerRefused(host, at: moment)
                } else {
                    send(to: host, at: moment)
                }
            }
            // A probe after a refusal needs the connections that the refusal closed.
            if host.breaker.intake != .none { host.pool?.retryCredential(now: moment.monotonic) }
            host.flush(hasBacklog: host.hasWaiting, at: moment)
        }
        hosts.advanced()
    }
}
