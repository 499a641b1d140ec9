import APNSClient
import EventLoop
import Logging
import PushModel
import RabbitMQ

/// One operating-system thread that turns one loop and owns everything it touches: a consume connection, a publish
/// connection, and the HTTP/2 connections of its routes.
///
/// A job is read, sent, answered, reported and acknowledged here; no lock is taken on the way. Others talk to a lane
/// through its mailbox only, and read the snapshot it leaves.
final class Lane {
    /// The longest a turn waits when nothing is due, so that the watchdog and the clocks are served. A machine may have
    /// hundreds of workers without work.
    static let longestWait = Duration.seconds(1)
    /// How often a snapshot is left.
    static let snapshotInterval = Duration.milliseconds(250)

    /// What it was told, with the routes in the order of their positions.
    var settings: LaneSettings
    let handle: LaneHandle
    let loop: EventLoop
    let mailbox: Mailbox<LaneMessage>
    /// What the lane counted so far, without its routes.
    var counters = LaneCounters()
    /// The longest recent turns.
    var longestTurn = RecentMaximum()
    let logger: Logger
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

    /// The time of this turn. After the clock was set, its wall time is the earlier of the two times (`ClockWatch`).
    private(set) var moment = Moment.now()
    /// The time of this turn as the wall clock has it, in milliseconds since 1970. What operators ask for ends by it.
    private(set) var wall = WallClock.milliseconds()
    /// The time of this turn on the monotonic clock.
    var now: MonotonicTime { moment.monotonic }
    var clocks: ClockWatch
    /// What operators want of the routes.
    var control: LaneControl
    /// Decides how long the broker may owe a route an answer. All routes share it, as they share the connection.
    var requestPatience: ConfirmPatience
    /// Routes that something happened to.
    var marked: [Route] = []
    /// Routes that this turn looks at.
    private var working: [Route] = []
    /// When each of the other routes has something to do.
    var dueTimes: DueTimes
    /// Routes that go on once results can go out.
    var heldBack: [Route] = []
    /// What all routes were told last; nil before the first turn.
    private var condition: LaneCondition?
    private var nextSnapshot = MonotonicTime(nanoseconds: 0)
    /// Whether the last turn came too soon after a report to leave another.
    private var owesReport = false
    private(set) var drain: Drain?
    /// Routes whose acknowledgements found no room. The lane looks at them again once there is some.
    var starved: [Route] = []

    /// A drain that was asked for.
    struct Drain {
        /// When what is left is given up.
        var deadline: MonotonicTime
        /// When jobs that were not sent yet are handed back instead of being sent.
        var handBackAt: MonotonicTime
    }

    /// Creates a lane on the thread that will run it.
    init(settings: LaneSettings, handle: LaneHandle, logger: Logger) throws(EventLoopError) {
        self.settings = settings
        self.handle = handle
        self.logger = logger
        control = LaneControl(isAwaited: settings.awaitsControl)
        clocks = ClockWatch(standstill: Self.standstill(settings))
        requestPatience = ConfirmPatience(usual: settings.requestPatience)
        dueTimes = DueTimes(routes: settings.routes.count)
        loop = try EventLoop()
        mailbox = Mailbox(waking: loop.wakeup)
    }

    /// Turns the loop until the lane is drained.
    func run() {
        let mailbox = mailbox
        handle.started { mailbox.post($0) }
        defer {
            handle.ended(isDrained: isDrained)
            _ = settings.barrier?.note(settings.index, isDrained: true)
        }
        while !mayEnd() {
            handle.pulse.turn()
            do throws(EventLoopError) {
                try loop.turn(waitingAtMost: wait()) { readClocks(now: $0) }
            } catch {
                logger.critical("lane stopped: its loop failed", metadata: .with([.error: "\(error.message)"]))
                return
            }
            handle.pulse.enter(.messages)
            for message in mailbox.take() { receive(message) }
            endTurn()
            let busy = MonotonicTime.now() - now
            counters.turns += 1
            counters.busy += busy
            longestTurn.note(busy, now: now)
        }
        close()
    }

    /// Notes that something happened to a route, so that this turn looks at it.
    func mark(_ route: Route) {
        guard !route.marks.isMarked else { return }
        route.marks.isMarked = true
        marked.append(route)
    }

    /// Reads the clocks before a turn serves any event, because deliveries that arrived while the lane stood still do
    /// not count.
    private func readClocks(now: MonotonicTime) {
        moment.monotonic = now
        wall = WallClock.milliseconds()
        for event in clocks.read(boot: BootClock.nanoseconds(), wall: wall) { follow(event) }
        moment.wall = clocks.believed(wall: wall)
    }

    // MARK: The turn

    /// What follows the events of a turn.
    ///
    /// A job is delivered, answered and confirmed by events; here it is sent, published and acknowledged. The order:
    private func endTurn() {
        let pulse = handle.pulse
        // 1. The connections to the broker. One that ends takes its deliveries along, and nothing is sent for those.
        consumeLink.tick(now: now)
        publishLink.tick(now: now)
        followControl()
        // 2. The routes to which something happened, or that are due. Each does all it can at this moment: it gives its
        //    requests to APNs' connections and flushes these, and it queues its results. Only the methods for its
        //    channel come back, and go out with step 5.
        pulse.enter(.routes)
        let condition = currentCondition
        takeMarked(condition)
        for route in working {
            send(route.turn(at: moment, condition), of: route)
            keepPatience(with: route)
            holdBack(route)
        }
        // 3. The journal, before the results: after a crash, it must know each push whose result is out.
        pulse.enter(.publishing)
        flushJournal()
        // 4. All results of the turn, in one write.
        let unconfirmed = publisher.unconfirmed
        publisher.publish(now: now)
        publishLink.flush(now: now)
        FailPoint.reached(.publishedUnconfirmed, if: publisher.unconfirmed > unconfirmed)
        // 5. Acknowledgements, after the results that somebody waits for. Confirms arrive as events before the turn's
        //    end, so nothing is acknowledged that was only published now.
        pulse.enter(.acknowledging)
        for route in working { acknowledge(route) }
        consumeLink.flush(now: now)
        // 6. The times at which the routes are due next. They depend on all of the above.
        counters.routeTurns += working.count
        for route in working {
            let due = min(route.nextDue(after: moment), answerDue(of: route) ?? .distantFuture)
            dueTimes.set(due, of: route.position)
            if route.isLeaving { goOnLeaving(route) }
        }
        markHeldBack()
        // 7. The report of how it all stands now.
        report.note(working)
        owesReport = now < nextSnapshot
        guard !owesReport else { return }
        nextSnapshot = now + Self.snapshotInterval
        pulse.enter(.reporting)
        leaveReport()
    }

    /// The condition that concerns all routes in this turn.
    private var currentCondition: LaneCondition {
        LaneCondition(
            isDraining: drain != nil, isLeaving: drain.map { now >= $0.handBackAt } == true,
            isHeldUp: publisher.isHeldUp(now: now))
    }

    /// Takes out the routes that this turn has to look at, also those that no event concerned.
    private func takeMarked(_ condition: LaneCondition) {
        if condition != self.condition {
            self.condition = condition
            for route in routes { mark(route) }
        }
        while let position = dueTimes.popDue(now: now) { mark(routes[position]) }
        if !starved.isEmpty, consumeLink.isReadyToSend {
            for route in starved {
                route.marks.isStarved = false
                mark(route)
            }
            starved.removeAll(keepingCapacity: true)
        }
        markHeldBack()
        working.removeAll(keepingCapacity: true)
        swap(&marked, &working)
        for route in working { route.marks.isMarked = false }
    }

    /// Notes a route that goes on once results can go out.
    private func holdBack(_ route: Route) {
        guard !route.marks.isHeldBack, route.waitsForPublisher else { return }
        route.marks.isHeldBack = true
        heldBack.append(route)
    }

    /// Notes the routes that waited for results to go out and can go on now.
    private func markHeldBack() {
        guard !heldBack.isEmpty, !publisher.isCongested else { return }
        heldBack.removeAll { route in
            guard route.mayGoOn else { return false }
            route.marks.isHeldBack = false
            mark(route)
            return true
        }
    }

    /// Sends the methods that a route wants on its channel.
    private func send(_ actions: [RouteConsumer.Action], of route: Route) {
        guard let session = consumeLink.session else { return }
        do throws(AMQPError) {
            for action in actions {
                switch action {
                case .openChannel: try session.openChannel(route.channel)
                case .setPrefetch(let count): try session.setPrefetch(route.channel, count: UInt16(count))
                case .startConsuming(let queue):
                    try session.startConsuming(
                        route.channel, queue: route.queues[queue], consumerTag: route.consumerTag(queue),
                        arguments: route.consumerArguments)
                case .cancelConsuming(let queue):
                    try session.cancel(route.channel, consumerTag: route.consumerTag(queue))
                case .closeChannel: try session.closeChannel(route.channel)
                }
            }
        } catch {
            consumeLink.failed(error, now: now)
        }
    }

    /// Acknowledges what is finished, as far as the output buffer has room.
    private func acknowledge(_ route: Route) {
        guard let session = consumeLink.session else { return }
        do throws(AMQPError) {
            let payment = try route.settleDeliveries(at: moment, isDraining: drain != nil || route.isLeaving) {
                debt throws(AMQPError) in try send(debt, of: route, on: session)
            }
            counters.count(.acknowledged, payment.acknowledged)
            if !payment.isComplete {
                guard !route.marks.isStarved else { return }
                route.marks.isStarved = true
                starved.append(route)
            } else if payment.sent > 0, route.awaitsAcknowledgements {
                // The next suspect may be taken up now.
                mark(route)
            }
        } catch {
            consumeLink.failed(error, now: now)
        }
    }

    private func send(
        _ debt: DeliveryLedger.Debt, of route: Route, on session: AMQPSession
    ) throws(AMQPError) -> Bool {
        switch debt {
        case .acknowledge(let one):
            return try session.acknowledge(
                channel: route.channel, deliveryTag: one.deliveryTag, multiple: one.multiple)
        case .reject(let tag):
            guard try session.reject(channel: route.channel, deliveryTag: tag, requeue: false) else { return false }
            counters.count(.rejected)
            return true
        case .requeue(let tag):
            let isSent = try session.negativeAcknowledge(
                channel: route.channel, deliveryTag: tag, multiple: false, requeue: true)
            if isSent { counters.count(.requeued) }
            return isSent
        }
    }

    /// Whether there is more to write than one turn takes, and room for it. A socket that takes more only later is an
    /// event.
    private var lacksOnlyTurns: Bool {
        if !starved.isEmpty, consumeLink.isReadyToSend { return true }
        return publisher.wantsRoom && publishLink.isReadyToSend && publishLink.session?.isBlocked == false
    }

    /// How long the next turn may wait.
    private func wait() -> Duration {
        if !marked.isEmpty || lacksOnlyTurns { return .zero }
        var next = now + Self.longestWait
        func wake(at due: MonotonicTime?) {
            if let due { next = min(next, due) }
        }
        wake(at: consumeLink.nextDue(now: now))
        wake(at: publishLink.nextDue(now: now))
        wake(at: publisher.nextDue)
        wake(at: journal?.nextDue)
        wake(at: dueTimes.earliest)
        if owesReport { wake(at: nextSnapshot) }
        if let drain {
            if now < drain.handBackAt { wake(at: drain.handBackAt) }
            wake(at: drain.deadline)
        }
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
        case .routeDrained(let number): with(number) { $0.end(at: moment) }
        case .rate(let number, let rate): with(number) { $0.limit(to: rate) }
        case .route(let number, let message):
            guard !with(number, { $0.told(message, at: moment) }) else { break }
            // The route comes with a later message, or has left: this lane has nothing of the delivery.
            if case .asked(let delivery, _) = message {
                _ = settings.tell(delivery.lane, .route(number, .answered(delivery, isKnown: false)))
            }
        // The message woke the lane, which now sees that it may end.
        case .allDrained: break
        case .drain(let deadline):
            guard drain == nil else { return }
            drain = Drain(deadline: deadline, handBackAt: now + (deadline - now) / 2)
        }
    }

    /// Tells something to the route of a number, if it lives on this lane, and looks at it in this turn.
    ///
    /// - Returns: Whether it does.
    @discardableResult
    private func with(_ number: Int, _ tell: (Route) -> Void) -> Bool {
        guard let route = turnover.route(number) else { return false }
        tell(route)
        mark(route)
        return true
    }

    /// A helper thread finished a connect to a destination of a route.
    private func apnsConnected(
        _ route: Route, _ kind: Destination.Kind, _ request: ConnectRequest,
        _ result: Result<EstablishedConnection, APNSClientError>
    ) {
        if let news = route.connected(kind, result, for: request, at: moment) { say(news, of: kind, of: route) }
        mark(route)
    }

    /// Logs that a host of a route cannot be reached, or can be again.
    private func say(_ news: OutageLog.News, of kind: Destination.Kind, of route: Route) {
        var metadata = Logger.Metadata.with([.route: "\(route.name)"])
        if kind != .devices { metadata[LogKey.host.rawValue] = "\(kind.setting)" }
        switch news {
        case .failed(let reason, let level):
            metadata[LogKey.error.rawValue] = "\(reason)"
            logger.log(
                level: level,
                kind == .devices ? "APNs cannot be reached" : "a host for broadcast channels cannot be reached",
                metadata: metadata)
        case .works(let outage):
            metadata[LogKey.detail.rawValue] = "\(outage.text)"
            logger.notice(
                kind == .devices ? "APNs can be reached again" : "a host for broadcast channels can be reached again",
                metadata: metadata)
        }
    }

    /// Whether a drain has nothing left to do, or no time left to do it.
    private func mayEnd() -> Bool {
        guard let drain else { return false }
        guard now < drain.deadline else { return true }
        guard let barrier = settings.barrier else { return isDrained }
        guard barrier.note(settings.index, isDrained: isDrained) else { return false }
        settings.announce(.allDrained)
        return true
    }

    /// Whether nothing is in flight, and nothing more can arrive.
    private var isDrained: Bool { publisher.isIdle && routes.allSatisfy(\.isDrained) }

    private func close() {
        handle.pulse.enter(.closing)
        for route in routes { route.close() }
        consumeLink.close()
        publishLink.close()
        journal?.close()
        report.forget()
        leaveReport()
    }
}
