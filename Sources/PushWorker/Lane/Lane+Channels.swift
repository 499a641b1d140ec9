internal import APNSClient
internal import EventLoop
internal import Logging
internal import PushModel

// What a lane does for the hosts of channels: few jobs need them, and none of it happens for a route that has no such job.
extension Lane {
    /// Opens, fills, flushes and closes the connections to a route's hosts of channels.
    func advanceChannels(_ route: Route) {
        guard route.hasChannelWork else { return }
        for host in route.channelHosts where !host.isAsleep {
            host.breaker.tick(now: now.nanoseconds)
            var situation = ChannelHostStateMachine.Situation(
                hasWaiting: host.hasWaiting, intake: host.breaker.intake, isCongested: publisher.isCongested)
            // Asked only for a job, for the answer wakes the lane when the rate allows the next.
            if situation.wantsConnection { situation.isWithinRate = route.allowedByRate(now: now.nanoseconds) > 0 }
            let isWanted = situation.wantsConnection
            switch host.machine.next(isWanted: isWanted, isBusy: host.requests.count > 0, now: now.nanoseconds) {
            case .open: openChannels(host, of: route)
            case .close: host.close()
            case .giveUp:
                host.close()
                route.giveUpChannels(host, now: now, wallClock: wallClock)
            case nil: break
            }
            if !publisher.isCongested { route.sendToChannels(host, now: now, wallClock: wallClock) }
            // A probe after a refusal needs the connections that the refusal closed.
            if host.breaker.intake != .none { host.pool?.retryCredential(now: now) }
            host.pool?.flush(now: now, hasBacklog: host.hasWaiting)
        }
        route.hasChannelWork = route.channelHosts.contains { !$0.isAsleep }
    }

    private func openChannels(_ host: ChannelHost, of route: Route) {
        guard let name = route.credential?.name, let newest = settings.credentials.current(name) else { return }
        // As the route's own connections: a version that APNs refused there would have nothing to fall back on here.
        let credential = route.pool?.credential ?? newest
        let events = ChannelHostEvents(lane: self, route: route, host: host)
        host.events = events
        var configuration = APNSPoolConfiguration(requestTimeout: settings.requestTimeout, connections: 1)
        configuration.pingInterval = settings.pingInterval
        host.pool = APNSPool(
            configuration: configuration, loop: loop, endpoint: host.connector.endpoint, credential: credential,
            delegate: events)
        if let pool = route.pool { host.pool?.keepSpare(of: pool) }
        host.pool?.offer(newest, now: now)
    }

    /// A helper thread finished a connect to a host of channels.
    func channelHostConnected(
        _ position: Int, _ kind: ChannelHost.Kind, _ request: ConnectRequest,
        _ result: Result<EstablishedConnection, APNSClientError>
    ) {
        let route = routes[position]
        // A host that was closed meanwhile wants the connection no more; it is closed with its last reference.
        guard let host = route.channelHosts.first(where: { $0.kind == kind }), let pool = host.pool else { return }
        switch result {
        case .success(let connection):
            host.trouble = nil
            pool.adopt(connection, for: request, now: now)
        case .failure(let error):
            host.trouble = error.message
            logger.warning(
                "a host of channels cannot be reached",
                metadata: ["route": "\(route.name)", "host": "\(kind.setting)", "error": "\(error.message)"])
            pool.connectFailed(error, for: request, now: now)
            if !pool.isConnected, host.requests.count == 0 {
                host.close()
                host.machine.failed(now: now.nanoseconds)
            }
        }
        mark(route)
    }
}

/// Events of the connection to one host of channels.
final class ChannelHostEvents: APNSPoolDelegate {
    private unowned let lane: Lane
    private unowned let route: Route
    private unowned let host: ChannelHost

    init(lane: Lane, route: Route, host: ChannelHost) {
        self.lane = lane
        self.route = route
        self.host = host
    }

    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {
        route.channelAnswered(tag: tag, answer, on: host, now: now, wallClock: lane.wallClock)
        lane.mark(route)
    }

    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {
        let position = route.position
        let kind = host.kind
        HelperThread.run("martlet-apns") { [connector = host.connector, handle = lane.handle] in
            let result = connector.result(of: request)
            handle.post(.channelHostConnected(route: position, kind, request, Transfer(result)))
        } orElse: { [handle = lane.handle] error in
            let failure = APNSClientError(.unreachable, error.message)
            handle.post(.channelHostConnected(route: position, kind, request, Transfer(.failure(failure))))
        }
    }

    /// A refusal below HTTP comes without an answer to any request; the host's own breaker acts on it all the same.
    func pool(_ pool: APNSPool, credential event: CredentialEvent) {
        if case .refused(let version, _, _) = event, !pool.isReplaced(version) {
            if host.refusal == nil { host.refusal = APNSResponse(status: 403, reason: .badCertificate) }
            host.breaker.credentialRefused(now: lane.now.nanoseconds)
        } else if case .tried = event {
            host.credentialReplaced()
        }
        lane.mark(route)
    }

    func poolCapacityChanged(_ pool: APNSPool) { lane.mark(route) }
}
