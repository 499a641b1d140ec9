import APNSClient
import EventLoop
import Logging
import PushModel
import RabbitMQ

/// One operating-system thread that turns one loop and owns everything it touches: a consume connection, a publish
/// connection, and the HTTP/2 connections of its routes.
///
/// A job is read, sent, answered, reported and acknowledged here, without a lock except to hand notes to the journal's
/// thread. Other threads talk to the lane through its mailbox only, and read the snapshot that it leaves.
final class Lane {
    /// What the lane was told, with the routes in the order of their positions.
    var settings: LaneSettings
    let handle: LaneHandle
    /// What it needs from its machine.
    let surroundings: LaneSurroundings
    let loop: EventLoop
    let mailbox: Mailbox<LaneMessage>
    /// What the lane counted so far, without its routes.
    var counters = LaneCounters()
    /// The longest recent turns.
    var longestTurn = RecentMaximum()
    /// Writes what the log says of the lane.
    let log: LaneLog
    /// Where accepted notifications are noted; nil without a journal.
    private(set) lazy var journal = settings.journal.map(makeJournal)
    private(set) lazy var publisher = makePublisher()
    private(set) lazy var consumeEvents = ConsumeEvents(lane: self)
    private(set) lazy var publishEvents = PublishEvents(lane: self)
    private(set) lazy var consumeLink = makeLink(.consume)
    private(set) lazy var publishLink = makeLink(.publish)
    /// Its routes by their positions. A route that has left stays until another one takes its position.
    lazy var routes = makeRoutes()
    /// Which routes come and go while the lane runs.
    lazy var turnover = RouteTurnover(routes)
    /// The latest reports of the routes.
    lazy var report = LaneReport(routes, numbers: settings.routeCount + 1)

    /// The clocks, as this turn read them.
    var clock: LaneClock
    /// The time of this turn, as it is believed.
    var moment: Moment { clock.moment }
    /// The time of this turn on the monotonic clock.
    var now: MonotonicTime { clock.moment.monotonic }
    /// What operators want of the routes.
    var control: LaneControl
    /// Decides how long the broker may owe a route an answer. All routes share it, as they share the connection.
    var requestPatience: ConfirmPatience
    /// Which routes a turn looks at.
    var agenda: RouteAgenda
    /// The drain that was asked for; nil before.
    private(set) var drain: LaneDrain?

    /// Creates a lane on the thread that will run it.
    init(
        settings: LaneSettings, handle: LaneHandle, logger: Logger,
        in surroundings: LaneSurroundings = LaneSurroundings()
    ) throws(EventLoopError) {
        self.settings = settings
        self.handle = handle
        self.surroundings = surroundings
        log = LaneLog(logger)
        control = LaneControl(isAwaited: settings.awaitsControl, startedAt: surroundings.time.wall)
        clock = LaneClock(surroundings.time, standstill: settings.longestStandstill())
        requestPatience = ConfirmPatience(usual: settings.requestPatience)
        agenda = RouteAgenda(routes: settings.routes.count)
        loop = try EventLoop(time: surroundings.time)
        mailbox = Mailbox(waking: loop.wakeup)
    }

    /// Turns the loop until the lane is drained.
    func run() {
        begin()
        while turn() {}
        end()
    }

    /// Takes messages from now on.
    func begin() {
        let mailbox = mailbox
        handle.started { mailbox.post($0) }
    }

    /// Makes one turn: waits for events, and does all that follows from them.
    ///
    /// - Returns: Whether the lane goes on. If not, it is closed, unless its loop failed.
    func turn() -> Bool {
        guard !mayEnd() else {
            close()
            return false
        }
        handle.pulse.turn()
        do throws(EventLoopError) {
            try loop.turn(waitingAtMost: wait()) { readClocks(now: $0) }
        } catch {
            log.loopFailed(error.message)
            return false
        }
        handle.pulse.enter(.messages)
        for message in mailbox.take() { receive(message) }
        endTurn()
        let busy = surroundings.time.monotonic - now
        counters.turns += 1
        counters.busy += busy
        longestTurn.note(busy, now: now)
        return true
    }

    /// Tells that the lane has ended.
    func end() { handle.ended(isDrained: isDrained) }

    /// Notes that something happened to a route, so that this turn looks at it.
    func mark(_ route: Route) { agenda.mark(route) }

    /// Reads the clocks before a turn serves any event, because deliveries that arrived while the lane stood still do
    /// not count.
    private func readClocks(now: MonotonicTime) {
        for event in clock.read(now: now) { follow(event) }
        clock.believe()
    }

    // MARK: The turn

    /// Does the work of a turn, after its events.
    ///
    /// Events deliver, answer and confirm jobs. This method sends jobs, publishes results and acknowledges deliveries.
    /// The order:
    private func endTurn() {
        let pulse = handle.pulse
        // 1. The connections to the broker. If one ends, its deliveries end with it, and nothing is sent for them.
        consumeLink.tick(now: now)
        publishLink.tick(now: now)
        followControl()
        // 2. The routes to which something happened, or that are due. Each does all it can at this moment: it gives its
        //    requests to APNs' connections and flushes these, and it queues its results. Only the methods for the
        //    route's channel come back. They go out in step 5.
        pulse.enter(.routes)
        let condition = currentCondition
        takeUpRoutes(condition)
        for route in agenda.working {
            ask(route.turn(at: moment, condition), for: route)
            keepPatience(with: route)
            agenda.holdBack(route)
        }
        // 3. The journal, before the results: after a crash, it must know each push whose result is out.
        pulse.enter(.publishing)
        flushJournal()
        // 4. All results of the turn, in one write.
        let unconfirmed = publisher.unconfirmed
        publisher.publish(now: now)
        publishLink.flush(now: now)
        FailPoint.reached(.publishedUnconfirmed, if: publisher.unconfirmed > unconfirmed)
        // 5. Acknowledgements. Results go first, because somebody waits for them. Confirms arrive as events, before
        //    this method, so nothing is acknowledged that was published only now.
        pulse.enter(.acknowledging)
        for route in agenda.working { acknowledge(route) }
        consumeLink.flush(now: now)
        // 6. The times at which the routes are due next. They depend on all of the above.
        counters.routeTurns += agenda.working.count
        for route in agenda.working {
            let due = min(route.nextDue(after: moment), answerDue(of: route) ?? .distantFuture)
            agenda.set(due, of: route.position)
            if route.isLeaving { goOnLeaving(route) }
        }
        markHeldBack()
        // 7. The report of the state after all of the above.
        report.note(agenda.working)
        guard report.isDue(now: now) else { return }
        pulse.enter(.reporting)
        leaveReport()
    }

    /// The condition that concerns all routes in this turn.
    private var currentCondition: LaneCondition {
        LaneCondition(
            isDraining: drain != nil, isLeaving: drain?.isLeaving(now: now) == true,
            isHeldUp: publisher.isHeldUp(now: now))
    }

    /// Takes up the routes that this turn has to look at, also those that no event concerned.
    private func takeUpRoutes(_ condition: LaneCondition) {
        agenda.follow(condition, routes)
        agenda.markDue(routes, now: now)
        if agenda.hasStarved, consumeLink.isReadyToSend { agenda.markStarved() }
        markHeldBack()
        agenda.begin()
    }

    /// Notes the routes that waited for results to go out and can go on now.
    private func markHeldBack() {
        if agenda.hasHeldBack, !publisher.isCongested { agenda.markHeldBack() }
    }

    /// Asks the broker for what a route wants.
    private func ask(_ actions: [RouteConsumer.Action], for route: Route) {
        guard let session = consumeLink.session else { return }
        do throws(AMQPError) {
            for action in actions { try session.ask(action, for: route) }
        } catch {
            consumeLink.failed(error, now: now)
        }
    }

    /// Acknowledges a route's deliveries or gives them back, as far as the output buffer has room.
    private func acknowledge(_ route: Route) {
        guard let session = consumeLink.session else { return }
        do throws(AMQPError) {
            let payment = try route.settleDeliveries(at: moment, isDraining: drain != nil || route.isLeaving) {
                debt throws(AMQPError) in
                guard try session.pay(debt, on: route.channel.number) else { return false }
                counters.count(debt)
                return true
            }
            counters.count(.acknowledged, payment.acknowledged)
            if !payment.isComplete {
                agenda.starve(route)
            } else if payment.sent > 0, route.awaitsAcknowledgements {
                // The next suspect may be taken up now.
                mark(route)
            }
        } catch {
            consumeLink.failed(error, now: now)
        }
    }

    /// Whether there is more to write than one turn takes, and room for it. Without room, the socket wakes the lane
    /// when it takes more.
    private var lacksOnlyTurns: Bool {
        if agenda.hasStarved, consumeLink.isReadyToSend { return true }
        return publisher.wantsRoom && publishLink.isReadyToSend && publishLink.session?.isBlocked == false
    }

    /// When the next turn is due if nothing happens before.
    var nextTurn: MonotonicTime { min(now + wait(), loop.nextTimer ?? .distantFuture) }

    /// How long the next turn may wait.
    private func wait() -> Duration {
        if agenda.hasMarked || lacksOnlyTurns { return .zero }
        var next = now + surroundings.longestWait
        func wake(at due: MonotonicTime?) {
            if let due { next = min(next, due) }
        }
        wake(at: consumeLink.nextDue(now: now))
        wake(at: publishLink.nextDue(now: now))
        wake(at: publisher.nextDue)
        wake(at: journal?.nextDue)
        wake(at: agenda.earliest)
        wake(at: report.dueAt)
        wake(at: drain?.nextDue(after: now))
        return next - now
    }
}

// MARK: Messages and the end

extension Lane {
    private func receive(_ message: LaneMessage) {
        switch message {
        case .brokersFound(let role, let number, let result):
            (role == .consume ? consumeLink : publishLink).found(result, number: number, now: now)
        case .apnsConnected(let position, let kind, let request, let result):
            guard let result = result.take() else { return }
            apnsConnected(routes[position], kind, request, result)
        case .credentialChanged(let credential): changed(credential)
        case .credentialUnusable(let name, let reason): unusable(name, reason: reason)
        case .credentialRefused(let name, let version): refusedElsewhere(name, version: version)
        case .served(let served):
            turnover.served = served
            for route in routes {
                if route.serve(turnover.isServed(route)) { mark(route) }
            }
        case .control(let state): control.learned(state)
        case .fleetRates(let rates): followRates(rates)
        case .added(let own): add(own)
        case .removed(let number): with(number) { $0.leave() }
        case .rate(let number, let rate): with(number) { $0.limit(to: rate.map { SendingRate(perSecond: $0) }) }
        case .drain(let deadline):
            guard drain == nil else { return }
            drain = LaneDrain(until: deadline, now: now)
        }
    }

    /// Tells something to the route of a number, if there is one. This turn then looks at the route.
    private func with(_ number: Int, _ tell: (Route) -> Void) {
        guard let route = turnover.route(number) else { return }
        tell(route)
        mark(route)
    }

    /// A helper thread finished a connect to a destination of a route.
    private func apnsConnected(
        _ route: Route, _ kind: Destination.Kind, _ request: ConnectRequest,
        _ result: Result<EstablishedConnection, APNSClientError>
    ) {
        if let news = route.connected(kind, result, for: request, at: moment) {
            log.routes.hostChanged(news, of: kind, of: route)
        }
        mark(route)
    }

    /// Whether the lane may end: it is drained, or the time of the drain is over.
    private func mayEnd() -> Bool { drain.map { $0.isOver(now: now) || isDrained } ?? false }

    /// Whether nothing is in flight, and nothing more can arrive.
    private var isDrained: Bool { publisher.isIdle && routes.allSatisfy(\.isDrained) }

    private func close() {
        handle.pulse.enter(.closing)
        for route in routes { route.close() }
        consumeLink.close(within: surroundings.farewell)
        publishLink.close(within: surroundings.farewell)
        journal?.close()
        report.forget()
        leaveReport()
    }
}
