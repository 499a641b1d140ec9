import EventLoop
import PushModel

/// How a route sends: from notifications that wait to requests that are submitted. Streams, window, rate and breaker
/// bound their number.
///
/// Confined to its lane. Time comes in.
final class RouteDispatch {
    private let rates: RouteRates
    private let outbox: Outbox
    private let settlement: RouteSettlement
    private let tally: RouteTally

    /// The dispatch of one route.
    ///
    /// - Parameters:
    ///   - rates: Hold the route back.
    ///   - outbox: Says whether results can leave.
    ///   - settlement: Settles what must not be sent, or need not.
    ///   - tally: Counts.
    init(rates: RouteRates, outbox: Outbox, settlement: RouteSettlement, tally: RouteTally) {
        (self.rates, self.outbox, self.settlement, self.tally) = (rates, outbox, settlement, tally)
    }

    /// Sends as much as streams, window, rate and breaker of a destination allow.
    ///
    /// - Parameters:
    ///   - destination: The host to send to.
    ///   - onlyHigh: Whether normal jobs have to wait although there is room for them.
    ///   - moment: The time.
    /// - Returns: Whether there may be more to settle without a request, in the next turn.
    func send(to destination: Destination, onlyHigh: Bool = false, at moment: Moment) -> Bool {
        guard destination.breaker.intake != .none, destination.hasWaiting, var room = destination.room else {
            return false
        }
        if onlyHigh { room.keepNormalOut() }
        // A probe for devices does not wait for the rate, but it counts against the rate. Nothing else goes to devices
        // until the probe is answered.
        let isProbe = destination.kind == .devices && destination.breaker.intake == .one
        if !isProbe { rates.take(&room, isUrgent: destination.hasHighWaiting, now: moment.monotonic) }
        let taken = room.total
        defer { rates.giveBack(isProbe ? room.total - taken : room.total) }
        // A notification that is settled without a request needs no free stream. Its result needs room.
        var unsent = 0
        while !outbox.isCongested, unsent < RouteSettlement.mostSettledUnsent,
            let notification = destination.next(in: room)
        {
            guard let cleared = settlement.clear(notification, on: destination, at: moment) else {
                unsent += 1
                continue
            }
            FailPoint.reached(.beforeSend)
            guard destination.submit(cleared, in: &room, at: moment) else { return false }
            tally.counters.requests += 1
        }
        return unsent == RouteSettlement.mostSettledUnsent
    }

    /// Decides what to do about the connections to a host. A job opens them, and they are closed when nobody needs
    /// them.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - isHalted: Whether nothing is sent, because operators want it so.
    ///   - moment: The time.
    /// - Returns: What to do; nil for nothing.
    func nextStep(of host: Destination, isHalted: Bool, at moment: Moment) -> OnDemandStateMachine.Action? {
        guard !host.isSettled(at: moment) else { return nil }
        var situation = OnDemandStateMachine.Situation(
            hasWaiting: host.hasWaiting, intake: host.breaker.intake, isCongested: outbox.isCongested || isHalted)
        // The rate is asked only where a job needs a connection, because a refusal sets the time at which the lane
        // wakes (`RouteRates.nextDue`).
        if situation.wantsConnection { situation.isWithinRate = rates.allowsOne(now: moment.monotonic) }
        return host.nextStep(isWanted: situation.wantsConnection, at: moment)
    }
}
