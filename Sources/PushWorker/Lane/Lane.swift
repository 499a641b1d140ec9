internal import APNSClient
internal import EventLoop
internal import Logging
internal import PushModel
internal import RabbitMQ

/// One operating-system thread that turns one loop and owns everything it touches: a consume connection, a publish
/// connection, and the HTTP/2 connections of its routes.
///
/// A job is read, sent, answered, reported and acknowledged here; no lock is taken on the way. Others talk to a lane
/// through its mailbox only, and read the snapshot it leaves.
final class Lane {
    /// The longest a turn waits when nothing is due, so that the snapshot and the progress stamp stay fresh.
    static let longestWait: UInt64 = 500_000_000
    /// How often a snapshot is left.
    static let snapshotInterval: UInt64 = 250_000_000

    let settings: LaneSettings
    let handle: LaneHandle
    let loop: EventLoop
    let mailbox: Mailbox<LaneMessage>
    /// What the lane counted so far, its routes apart.
    var counters = LaneCounters()
    /// The longest turns of late, in nanoseconds.
    var longestTurn = RecentMaximum()
    let logger: Logger
    /// Where accepted notifications are noted; nil without a journal.
    private(set) lazy var journal = settings.journal.map(makeJournal)
    private(set) lazy var publisher = makePublisher()
    private(set) lazy var consumeEvents = ConsumeEvents(lane: self)
    private(set) lazy var publishEvents = PublishEvents(lane: self)
    private(set) lazy var consumeLink = makeLink(.consume)
    private(set) lazy var publishLink = makeLink(.publish)
    private(set) lazy var routes = makeRoutes()
    /// What was reported of the routes.
    lazy var report = LaneReport(routes, configured: settings.routeCount)

    /// The time of this turn.
    private(set) var now = MonotonicTime.now()
    /// Milliseconds since 1970 at this turn; the earlier of two times after the clock was set.
    private(set) var wallClock = WallClock.milliseconds()
    var clocks: ClockWatch
    /// Routes that something happened to in this turn.
    private var marked: [Route] = []
    /// When the others have something to do.
    private var dueTimes: DueTimes
    /// Routes that go on once results can go out.
    private var heldBack: [Route] = []
    /// What all routes were told last; nil before the first turn.
    private var condition: LaneCondition?
    private var nextSnapshot = MonotonicTime(nanoseconds: 0)
    private(set) var drain: Drain?
    /// Routes whose acknowledgements found no room; they are looked at again once there is some.
    private var starved: [Route] = []

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
        clocks = ClockWatch(standstill: Self.standstill(settings))
        dueTimes = DueTimes(routes: settings.routes.count)
        loop = try EventLoop()
        mailbox = Mailbox(waking: loop.wakeup)
    }

    /// Turns the loop until the lane is drained.
    func run() {
        let mailbox = mailbox
        handle.started { mailbox.post($0) }
        defer { handle.ended(isDrained: isDrained) }
        while !isFinished {
            handle.pulse.turn()
            do throws(EventLoopError) {
                try loop.turn(waitingAtMost: .nanoseconds(Int64(clamping: wait()))) { readClocks(now: $0) }
            } catch {
                logger.critical("lane stopped: its loop failed", metadata: ["error": "\(error.message)"])
                return
            }
            handle.pulse.enter(.messages)
            for message in mailbox.take() { receive(message) }
            endTurn()
            let busy = MonotonicTime.now().nanoseconds(since: now)
            counters.turns += 1
            counters.busyNanoseconds += busy
            longestTurn.note(busy, now: now.nanoseconds)
        }
        close()
    }

    /// Notes that something happened to a route, so that this turn looks at it.
    func mark(_ route: Route) {
        guard !route.isMarked else { return }
        route.isMarked = true
        marked.append(route)
    }

    /// Reads the clocks before a turn serves anything: what came while the lane stood still is not to be believed.
    private func readClocks(now: MonotonicTime) {
        self.now = now
        let wall = WallClock.milliseconds()
        for event in clocks.read(boot: BootClock.nanoseconds(), wall: wall) { follow(event) }
        wallClock = clocks.believed(wall: wall)
    }

    // MARK: The turn

    /// What follows the events of a turn: routes send, connections write, results go out, deliveries are acknowledged.
    private func endTurn() {
        let pulse = handle.pulse
        consumeLink.tick(now: now)
        publishLink.tick(now: now)
        pulse.enter(.routes)
        let condition = currentCondition
        markDue(condition)
        let working = marked
        marked.removeAll(keepingCapacity: true)
        for route in working {
            route.isMarked = false
            advance(route, condition)
        }
        pulse.enter(.publishing)
        flushJournal()
        let unconfirmed = publisher.unconfirmed
        publisher.publish(now: now)
        FailPoint.reached(.publishedUnconfirmed, if: publisher.unconfirmed > unconfirmed)
        pulse.enter(.acknowledging)
        for route in working { acknowledge(route) }
        counters.routeTurns += working.count
        for route in working { dueTimes.set(route.nextDue(now: now, wallClock: wallClock), of: route.position) }
        markHeldBack()
        report.note(working)
        pulse.enter(.sending)
        publishLink.flush(now: now)
        consumeLink.flush(now: now)
        if now >= nextSnapshot {
            nextSnapshot = now.adding(nanoseconds: Self.snapshotInterval)
            pulse.enter(.reporting)
            leaveReport()
        }
    }

    /// What concerns all routes in this turn.
    private var currentCondition: LaneCondition {
        LaneCondition(
            isDraining: drain != nil, isLeaving: drain.map { now >= $0.handBackAt } == true,
            isHeldUp: publisher.isHeldUp(now: now))
    }

    /// Notes which routes this turn has to look at although no event concerned them.
    private func markDue(_ condition: LaneCondition) {
        if condition != self.condition {
            self.condition = condition
            for route in routes { mark(route) }
        }
        while let position = dueTimes.popDue(now: now.nanoseconds) { mark(routes[position]) }
        if !starved.isEmpty, consumeLink.isReadyToSend {
            for route in starved { mark(route) }
            starved.removeAll(keepingCapacity: true)
        }
        markHeldBack()
    }

    /// Notes the routes that waited for results to go out and can go on.
    private func markHeldBack() {
        guard !heldBack.isEmpty, !publisher.isCongested else { return }
        heldBack.removeAll { route in
            guard route.mayGoOn else { return false }
            route.isHeldBack = false
            mark(route)
            return true
        }
    }

    private func advance(_ route: Route, _ condition: LaneCondition) {
        route.breaker.tick(now: now.nanoseconds)
        route.memory.forgetIfDue(now: now.nanoseconds)
        route.followCredential(now: now, wallClock: wallClock)
        route.cooling.forgetIfDue(now: now.nanoseconds)
        route.poison.tick(now: now.nanoseconds)
        if let delay = route.breaker.splitDelay(isDraining: condition.isDraining, isLeaving: condition.isLeaving) {
            route.splitStarted(after: delay, now: now, wallClock: wallClock)
        }
        // A route that cannot work gives its jobs back in the end, for another worker may be able to.
        let isGivingUp = route.breaker.intake == .none && (condition.isDraining || route.shouldHandBack)
        // Results that find no way out are kept, but jobs that were not sent may go to a worker whose results do.
        if condition.isHeldUp || isGivingUp || condition.isLeaving { handBack(route) }
        if !route.refused.isEmpty { route.reportRefused(wallClock: wallClock) }
        let maySend = !publisher.isCongested
        route.rateDue = nil
        if maySend { route.takeSuspect(now: now, wallClock: wallClock) }
        // Jobs about channels are few: they go first, lest pushes leave them nothing of a rate.
        if route.hasChannelWork { advanceChannels(route) }
        let open = route.requests.count
        if maySend { route.sendWaiting(now: now, wallClock: wallClock) }
        route.pool?.flush(now: now, hasBacklog: maySend && route.hasBacklog)
        FailPoint.reached(.afterSend, if: route.requests.count > open)
        if route.waitsForPublisher, !route.isHeldBack {
            route.isHeldBack = true
            heldBack.append(route)
        }
        // Last, because what was sent and taken up decides how much more is wanted.
        route.updateIntake(isDraining: condition.isDraining || condition.isHeldUp)
        perform(route)
    }

    /// Sends the methods that the route's consumer wants.
    private func perform(_ route: Route) {
        guard let session = consumeLink.session else { return }
        do throws(AMQPError) {
            while let action = route.consumer.nextAction(now: now.nanoseconds) {
                switch action {
                case .openChannel: try session.openChannel(route.channel)
                case .setPrefetch(let count): try session.setPrefetch(route.channel, count: UInt16(count))
                case .startConsuming(let queue):
                    try session.startConsuming(
                        route.channel, queue: route.queues[queue],
                        consumerTag: ConsumerTag.text(queue, serial: route.consumer.serial(of: queue)))
                case .cancelConsuming(let queue):
                    try session.cancel(
                        route.channel, consumerTag: ConsumerTag.text(queue, serial: route.consumer.serial(of: queue)))
                }
            }
        } catch {
            consumeLink.failed(error, now: now)
        }
    }

    /// Acknowledges what is finished, as far as the output buffer has room.
    private func acknowledge(_ route: Route) {
        guard route.consumer.isOpen, let session = consumeLink.session else { return }
        // A suspect is through once it is acknowledged, and the next one waits for that.
        let flush = drain != nil || route.poison.hasSuspects
        let held = route.acknowledgements.unacknowledged
        do throws(AMQPError) {
            if let prefix = route.acknowledgements.takePrefix(now: now.nanoseconds, flush: flush) {
                route.owedAcknowledgements.append(.acknowledge(prefix))
            }
            for straggler in route.acknowledgements.takeStragglers(now: now.nanoseconds, flush: flush) {
                route.owedAcknowledgements.append(.acknowledge(straggler))
            }
            counters.count(.acknowledged, held - route.acknowledgements.unacknowledged)
            guard !route.owedAcknowledgements.isEmpty else { return }
            FailPoint.reached(.acknowledgedUnflushed)
            while let owed = route.owedAcknowledgements.first {
                guard try send(owed, of: route, on: session) else {
                    starved.append(route)
                    return
                }
                route.owedAcknowledgements.removeFirst()
            }
            // The next one may be taken up now.
            if route.poison.hasSuspects { mark(route) }
        } catch {
            consumeLink.failed(error, now: now)
        }
    }

    private func send(
        _ owed: Route.OwedAcknowledgement, of route: Route, on session: AMQPSession
    ) throws(AMQPError) -> Bool {
        switch owed {
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

    /// Whether there is more to write than one turn takes, and room for it: what a socket takes only later is an event.
    private var lacksOnlyTurns: Bool {
        if !starved.isEmpty, consumeLink.isReadyToSend { return true }
        return publisher.wantsRoom && publishLink.isReadyToSend && publishLink.session?.isBlocked == false
    }

    /// How long the next turn may wait, in nanoseconds.
    private func wait() -> UInt64 {
        if !marked.isEmpty || lacksOnlyTurns { return 0 }
        var wait = Self.longestWait
        func wake(at due: UInt64) {
            wait = min(wait, due > now.nanoseconds ? due - now.nanoseconds : 0)
        }
        if let due = consumeLink.nextDue(now: now) { wake(at: due.nanoseconds) }
        if let due = publishLink.nextDue(now: now) { wake(at: due.nanoseconds) }
        if let due = publisher.nextDue { wake(at: due) }
        if let due = journal?.nextDue { wake(at: due) }
        if let due = dueTimes.earliest { wake(at: due) }
        if let drain {
            if now < drain.handBackAt { wake(at: drain.handBackAt.nanoseconds) }
            wake(at: drain.deadline.nanoseconds)
        }
        return wait
    }
}

// MARK: Messages and the end

extension Lane {
    private func receive(_ message: LaneMessage) {
        switch message {
        case .brokersFound(let role, let number, let result):
            (role == .consume ? consumeLink : publishLink).found(result, number: number, now: now)
        case .apnsConnected(let position, let request, let result):
            guard let result = result.take(), let pool = routes[position].pool else { return }
            switch result {
            case .success(let connection):
                routes[position].connectTrouble = nil
                pool.adopt(connection, for: request, now: now)
            case .failure(let error):
                routes[position].connectTrouble = error.message
                routes[position].counters.connectionsFailed += 1
                logger.warning(
                    "APNs cannot be reached",
                    metadata: ["route": "\(routes[position].name)", "error": "\(error.message)"])
                pool.connectFailed(error, for: request, now: now)
            }
            mark(routes[position])
        case .credentialChanged(let credential): changed(credential)
        case .credentialRefused(let name, let version): refusedElsewhere(name, version: version)
        case .channelHostConnected(let position, let kind, let request, let result):
            guard let result = result.take() else { return }
            channelHostConnected(position, kind, request, result)
        case .drain(let deadline):
            guard drain == nil else { return }
            let half = deadline.nanoseconds(since: now) / 2
            drain = Drain(deadline: deadline, handBackAt: now.adding(nanoseconds: half))
        }
    }

    /// Gives jobs that were not started back to the broker.
    private func handBack(_ route: Route) {
        // Not while a consumer of ours may still be served: the broker would deliver the jobs straight back to us.
        guard route.consumer.isOpen, !route.consumer.mayReceive else { return }
        for job in route.takeUnsentResends() { giveBack(job, of: route) }
        if route.hasChannelWork, drain != nil {
            for job in route.takeUnsentChannelJobs() { giveBack(job, of: route) }
        }
        while let job = route.waiting.last, !job.isStarted {
            route.waiting.removeLast()
            giveBack(job, of: route)
        }
        while let job = route.refused.last, !job.isStarted {
            route.refused.removeLast()
            giveBack(job, of: route)
        }
        let suspects = route.poison.takeAll()
        if !suspects.isEmpty { route.unreadReturns &+= 1 }
        for suspect in suspects {
            route.acknowledgements.handedBack(suspect.deliveryTag, now: now.nanoseconds)
            route.owedAcknowledgements.append(.requeue(suspect.deliveryTag))
        }
    }

    private func giveBack(_ job: JobInFlight, of route: Route) {
        if let key = job.redeliveryKey { route.memory.handedBack(key, now: now.nanoseconds) }
        route.handBack(job, now: now)
        route.owedAcknowledgements.append(.requeue(job.deliveryTag))
    }

    /// Whether a drain has nothing left to do, or no time left to do it.
    private var isFinished: Bool {
        guard let drain else { return false }
        return now >= drain.deadline || isDrained
    }

    /// Whether nothing is in flight, and nothing more can arrive.
    private var isDrained: Bool {
        publisher.isIdle
            && routes.allSatisfy { route in
                route.isQuiet && !route.consumer.mayReceive && route.owedAcknowledgements.isEmpty
                    && (route.acknowledgements.unacknowledged == 0 || !route.consumer.isOpen)
            }
    }

    private func close() {
        handle.pulse.enter(.closing)
        for route in routes {
            route.pool?.close()
            for host in route.channelHosts { host.close() }
        }
        consumeLink.close()
        publishLink.close()
        journal?.close()
        report.forget()
        leaveReport()
    }
}

/// The consumer tags of a route's channel: the queue's position and the consumer's number.
///
/// No tag is used twice on a channel. A quorum queue knows a consumer by channel and tag, and goes on counting its
/// messages where a cancelled consumer with unacknowledged ones left off, while the broker's channel begins anew: it
/// takes the difference for lost deliveries. RabbitMQ 3.10.8 was seen to close the connection then (541).
enum ConsumerTag {
    /// The tag of a queue's consumer.
    static func text(_ queue: Int, serial: UInt32) -> String { "q\(queue).\(serial)" }

    /// The queue a tag stands for; nil for a tag that is not ours.
    static func queue(_ tag: some Sequence<UInt8>) -> Int? {
        Int(String(decoding: tag.dropFirst().prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self))
    }
}
