import APNSClient
import EventLoop
import Topology

// The reports of a route about itself.
extension Route {
    /// Learns how far this clock is ahead of APNs'.
    ///
    /// - Returns: By how many seconds this clock is ahead, and whether it is wrong; nil for no news.
    func learnClock() -> (skew: Int64, isWrong: Bool)? {
        guard let skew = devices.pool?.status.clockSkew else { return nil }
        tally.counters.clockSkew = Int(clamping: skew)
        return clock.learned(skew).map { (skew, $0) }
    }

    /// The route's status and counters, with the gauges of this moment.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - isDraining: Whether the lane finishes, so that the route is to take no more jobs.
    func report(at moment: Moment, isDraining: Bool) -> (status: LaneStatus.Route, counters: RouteCounters) {
        let report = RouteReport(
            RouteReport.Circumstances(
                now: moment.monotonic, isDraining: isDraining, isServed: isServed, control: control,
                jobQueues: channel.queues.count { !$0.hasSuffix(TopologyNames.returnSuffix) },
                isRateReached: rates.nextDue != nil, isLooking: expirySearch.look.isLooking),
            hosts: hosts, credential: credential, outbox: outbox, deliveries: deliveries, consumer: channel.consumer)
        report.write(to: &tally.counters)
        tally.counters.coolingTokens = cooling.count(at: moment.monotonic)
        tally.counters.deadTokens = deadTokens.knowledge
        tally.counters.holdsTokens = tally.counters.deadTokens?.holds == true
        return (report.status(of: name), tally.counters)
    }
}
