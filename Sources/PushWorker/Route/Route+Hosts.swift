import APNSClient
import EventLoop
import PushModel

// The hosts in a turn: their connections, and the hosts of broadcast channels. `RouteDispatch` decides what is sent, and
// when there are connections.
extension Route {
    // MARK: Connections

    /// A connect to a destination is over.
    ///
    /// - Returns: What the log has to tell about reaching the host; nil for nothing.
    func connected(
        _ kind: Destination.Kind, _ result: Result<EstablishedConnection, APNSClientError>,
        for request: ConnectRequest, at moment: Moment
    ) -> OutageLog.News? {
        guard let host = hosts[kind], host.awaits(request) else { return nil }
        let failure = host.connected(result, for: request, at: moment)
        if failure != nil, kind == .devices { tally.counters.connectionsFailed += 1 }
        return outages.reached(kind, failure, now: moment.monotonic)
    }

    /// Opens the connections to a host when a job needs them, and closes those that nobody needs.
    func connect(_ host: Destination, at moment: Moment) {
        switch dispatch.nextStep(of: host, isHalted: control.isHalted, at: moment) {
        case .open: surroundings.open(self, host)
        case .close: rest(host)
        case .giveUp:
            host.close()
            backlog.giveUp(host, at: moment)
        case nil: break
        }
    }

    /// Closes the connections of a route that other workers serve, once everything that it had is done. The other
    /// workers have connections of their own.
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
