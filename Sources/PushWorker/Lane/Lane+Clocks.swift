import RabbitMQ

// What a lane does when time did not pass as it should have.
extension Lane {
    /// Judges a standstill from now on by the heartbeats that were agreed on. The broker may want them more often than
    /// the configuration does.
    func heartbeatNegotiated() {
        let negotiated = [consumeLink, publishLink].compactMap { $0.session?.heartbeat }
        clock.allow(standstill: settings.longestStandstill(negotiated: negotiated))
    }

    /// Acts on an event of the clocks, before anything that was read is worked on.
    func follow(_ event: ClockWatch.Event) {
        log.clocksShow(event)
        switch event {
        case .stood(let milliseconds):
            counters.standstills += 1
            let error = AMQPError(.timeout, "the lane stood still for \(milliseconds) ms, longer than two heartbeats")
            for link in [consumeLink, publishLink] where link.session != nil { link.failed(error, now: now) }
        case .stepped:
            counters.clockSteps += 1
            for route in routes {
                route.credential.clockStepped()
                mark(route)
            }
        case .settled:
            // From now on, another time decides which credentials are valid.
            for route in routes { mark(route) }
        }
    }
}
