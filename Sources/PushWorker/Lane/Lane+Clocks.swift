import APNSClient
import EventLoop
import Logging
import RabbitMQ
import Text
import WorkerSettings

// What a lane does when time did not pass as it should have.
extension Lane {
    /// After how many milliseconds without a turn the connections to the broker count as lost. By then the broker has
    /// missed two heartbeats, and may have given all deliveries to others.
    ///
    /// - Parameters:
    ///   - settings: The lane's settings, whose heartbeats count before anything is negotiated.
    ///   - negotiated: The heartbeats of the connections there are, in seconds; 0 for a connection without any.
    static func standstill(_ settings: LaneSettings, negotiated: [Int] = []) -> Int64 {
        if let fixed = settings.standstill { return fixed.wholeMilliseconds }
        if let shortest = negotiated.filter({ $0 > 0 }).min() { return Int64(shortest) * 2_000 }
        let endpoints = (try? settings.broker.endpoints()) ?? []
        let heartbeats = endpoints.map(\.heartbeat).filter { $0 > 0 }
        return Int64(heartbeats.min() ?? 60) * 2_000
    }

    /// Judges a standstill from now on by the heartbeats that were agreed on. The broker may want them more often than
    /// the configuration does.
    func heartbeatNegotiated() {
        let negotiated = [consumeLink, publishLink].compactMap { $0.session?.heartbeat }
        clocks.standstill = Self.standstill(settings, negotiated: negotiated)
    }

    /// Acts on an event of the clocks, before anything that was read is worked on.
    func follow(_ event: ClockWatch.Event) {
        switch event {
        case .stood(let milliseconds):
            counters.standstills += 1
            logger.error(
                "a lane stood still: its deliveries count as lost",
                metadata: .with([.lane: "\(settings.index)", .duration: "\(milliseconds)"]))
            let error = AMQPError(.timeout, "the lane stood still for \(milliseconds) ms, longer than two heartbeats")
            for link in [consumeLink, publishLink] where link.session != nil { link.failed(error, now: now) }
        case .stepped(let milliseconds):
            counters.clockSteps += 1
            logger.error(
                "this machine's clock was set: until it has stayed so for five minutes jobs expire by the earlier time",
                metadata: .with([
                    .lane: "\(settings.index)",
                    .detail: "by \(milliseconds) ms; new provider tokens carry the new time, check it",
                ]))
            for route in routes {
                route.clockStepped()
                mark(route)
            }
        case .settled:
            // From now on, another time decides which credentials are valid.
            for route in routes { mark(route) }
            logger.notice("this machine's clock is believed again", metadata: .with([.lane: "\(settings.index)"]))
        }
    }
}
