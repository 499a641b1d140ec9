import APNSClient
import EventLoop
import PushModel
import RabbitMQ
import Topology

/// One route: its deliveries, the hosts it sends to, and its credit.
///
/// Trouble with one app stays within its route: a missing queue, a refused credential or a dead APNs stops this route
/// and no other. The lane drives the route; the route never touches a socket itself.
///
/// The route's state is its own: only this file changes it. Nearly all of it is in parts such as `Outbox` and
/// `RouteDeliveries`. Each part keeps its state private; the route lets the parts act in the right order. The extensions
/// of `Route` stand in several files, so the parts themselves cannot be `private`. But no other type reads or writes
/// them, except for the parts named below (`.ci/lint` looks).
///
/// A lane reads constants such as `name`, asks for facts and calls methods. Where something concerns one part alone,
/// the lane tells that part: `channel`, `credential`, or a destination. The route lends a destination to the lane,
/// which opens the destination's connections. The lane writes only one property of the route, `marks`, which is the
/// lane's own.
///
/// The way of a job, and where each step stands:
/// 1. delivered by RabbitMQ, and taken in (`RouteArrivals`), unless it was pushed before (`RouteDeliveries`)
/// 2. sent (`RouteDispatch`), unless it must not be or need not be (`Preflight`)
/// 3. answered and settled (`RouteSettlement`); the messages that this leads to are queued (`Outbox`)
/// 4. confirmed by RabbitMQ, and acknowledged or given back (`RouteDeliveries`)
///
/// Events cause the first half of each step; the rest is done in the route's turn.
final class Route {
    /// The configured name; `unrouted` for the route that answers jobs nobody claims.
    let name: String
    /// Its number in the worker.
    let number: Int
    /// Its position on the lane.
    let position: Int
    /// What it needs from its lane.
    let surroundings: RouteSurroundings
    /// Which (environment, topic) pairs may arrive here; nil for the route that answers `NoRoute`.
    let claim: RouteClaim?

    /// What the lane notes about it; the lane's own.
    var marks = LaneMarks()

    // MARK: Parts

    /// The hosts that it sends to.
    let hosts: RouteHosts
    /// Where pushes to devices go.
    var devices: Destination { hosts.devices }
    /// The channel on which it consumes its queues. The lane tells it what the broker says.
    let channel: RouteChannel
    /// Its credential. The lane tells it what happens to the credential elsewhere.
    let credential: CredentialUse
    /// Its deliveries, until they are settled.
    let deliveries: RouteDeliveries
    /// Makes jobs of deliveries.
    let arrivals: RouteArrivals
    /// Decides what becomes of the jobs that wait and cannot be sent.
    let backlog: RouteBacklog
    /// Sends what waits.
    let dispatch: RouteDispatch
    /// Settles notifications, and jobs.
    let settlement: RouteSettlement
    /// What it publishes for its jobs.
    let outbox: Outbox
    /// Looks for expired jobs while it is stopped.
    let expirySearch: ExpirySearch
    /// Decides the prefetch.
    let prefetch: RoutePrefetch
    /// Holds the route back.
    let rates: RouteRates
    /// What it counted so far.
    let tally: RouteTally
    /// Device tokens that rest.
    let cooling = CoolingTokens()
    /// The watch over the share of dead tokens among final answers.
    let deadTokens: SharedDeadTokens
    /// What the log tells of hosts that cannot be reached, and of channels that the broker closes.
    let outages = RouteOutages()
    /// Watches how far this machine's clock is off APNs' clock.
    var clock = ClockSkewWatch()

    // MARK: State of its own

    /// How far it has gone on its way off the lane.
    private(set) var tenure = RouteTenure.staying
    /// Whether this worker takes jobs of the route. If it does not, other workers do, and this one finishes what it
    /// has.
    private(set) var isServed = true
    /// What operators want of it.
    private(set) var control = RouteControl()
    /// Whether the turn left work that the next turn does at once.
    private(set) var goesOnAtOnce = false

    /// Creates a route that consumes nothing yet.
    ///
    /// - Parameters:
    ///   - deadTokens: What it knows of dead tokens.
    ///   - rate: What it may send; nil for no limit.
    ///   - credential: What is known about its credential; nil for the route that answers `NoRoute`.
    ///   - devices: Where pushes to devices go.
    ///   - broadcastHosts: Where jobs about broadcast channels go.
    init(
        name: String, number: Int = 0, position: Int, queues: [String], claim: RouteClaim?, credit: RouteCredit,
        deadTokens: SharedDeadTokens = SharedDeadTokens(), rate: SendingRate? = nil, credential: RouteCredential? = nil,
        surroundings: RouteSurroundings, devices: Destination = Destination(.devices),
        broadcastHosts: [Destination] = []
    ) {
        self.name = name
        self.number = number
        self.position = position
        self.claim = claim
        self.deadTokens = deadTokens
        self.surroundings = surroundings
        let policy = surroundings.policy
        tally = RouteTally(tiers: policy.allTiers.count)
        rates = RouteRates(configured: rate)
        prefetch = RoutePrefetch(
            credit, takesHighFirst: devices.takesHighFirst, budget: surroundings.memory, queues: queues.count)
        hosts = RouteHosts(devices, broadcastChannels: broadcastHosts)
        self.credential = CredentialUse(credential, on: hosts)
        deliveries = RouteDeliveries()
        outbox = Outbox(
            surroundings.publisher, replyPattern: surroundings.replyPattern, route: position,
            resultsBatch: surroundings.resultsBatch, policy: policy, tally: tally)
        channel = RouteChannel(
            of: name, at: position, queues: queues, prefetch: prefetch, hosts: hosts, outbox: outbox,
            deliveries: deliveries, outages: outages, random: surroundings.random)
        settlement = RouteSettlement(
            surroundings, route: name, cooling: cooling, deadTokens: deadTokens, hosts: hosts,
            credential: self.credential, outbox: outbox, deliveries: deliveries, tally: tally)
        arrivals = RouteArrivals(
            DeliveryReader(
                route: name, claim: claim, tiers: RetryTier.all(of: policy), trusting: surroundings.jobsFrom,
                random: surroundings.random),
            surroundings, prefetch: prefetch, deliveries: deliveries, hosts: hosts, outbox: outbox,
            settlement: settlement, tally: tally)
        expirySearch = ExpirySearch(
            policy, hosts: hosts, deliveries: deliveries, outbox: outbox, settlement: settlement, tally: tally,
            random: surroundings.random)
        backlog = RouteBacklog(
            policy, hosts: hosts, deliveries: deliveries, outbox: outbox, settlement: settlement,
            search: expirySearch, rates: rates, tally: tally, queues: queues.count)
        dispatch = RouteDispatch(rates: rates, outbox: outbox, settlement: settlement, tally: tally)
    }

    /// The route's part of a turn: it acts on events and on timers that fell due.
    ///
    /// The parts of the route queue results and copies of jobs at the lane's publisher, give requests to the
    /// connections to APNs and flush them, and open and close these connections. The route only notes what it owes the broker for deliveries; the lane pays these debts later in the turn (`settleDeliveries`).
    ///
    /// The turn returns only the methods for the route's channel, because the lane owns the connection to the broker.
    ///
    /// The order is what makes settlement correct; each step says why it stands where it does.
    ///
    /// - Parameters:
    ///   - moment: The time of the turn.
    ///   - condition: What concerns all routes of the lane.
    /// - Returns: The methods that the lane is to send on the route's channel, in this order.
    func turn(at moment: Moment, _ condition: LaneCondition) -> [RouteConsumer.Action] {
        rates.turnBegan()
        let givesBack = isLeaving || control.isHalted || backlog.givesBackExcess || leavesItsPart(condition)
        let condition = givesBack ? condition.leaving : condition
        // 1. Time passes first, so that the whole turn decides by the present time: probes fall due, a certificate
        //    expires, and memories whose time is over are forgotten.
        passTime(moment)
        // 2. The rest of a multicast job that was begun is split off before jobs are handed back. If such a job went
        //    back whole, its settled notifications would be pushed twice.
        backlog.splitBegun(at: moment, condition)
        backlog.splitSlow(at: moment)
        // 3. Jobs that were not begun are handed back before any of them could be sent.
        goesOnAtOnce = backlog.handBack(at: moment, condition, mayReceive: channel.consumer.mayReceive)
        if control.isHalted { backlog.clearHalted(at: moment) }
        // 4. Refused jobs need no connection, only room for their results. They get that room before pushes bring more
        //    results.
        settlement.reportRefused(at: moment)
        // 5. From here on requests are made. Each will have a result, so none is made while results cannot leave.
        let maySend = !outbox.isCongested && !control.isHalted
        if maySend { arrivals.takeSuspect(at: moment) }
        // 6. Jobs about broadcast channels are few. They go first, because pushes could use up the whole rate. Only
        //    `high` pushes go before them.
        if hosts.hasBroadcastWork {
            if maySend, devices.hasHighWaiting { send(to: devices, onlyHigh: true, at: moment) }
            advanceBroadcastHosts(at: moment)
        }
        // 7. As many pushes go as streams, window, rate and breaker allow. They leave in one write per connection. This
        //    is the batching: all that became ready during a turn goes out together. The first push opens the
        //    connections.
        connect(devices, at: moment)
        let open = devices.inFlight
        if maySend { send(to: devices, at: moment) }
        devices.flush(hasBacklog: maySend && devices.hasWaiting, at: moment)
        FailPoint.reached(.afterSend, if: devices.inFlight > open)
        // 8. The route decides last what it wants from the broker, because that depends on what was sent and taken up.
        channel.claimMemory(now: moment.monotonic)
        searchForExpired(at: moment, condition)
        updateIntake(condition)
        // Nothing after this adds a result in this turn.
        outbox.publishBatches()
        restIfUnserved()
        return channel.actions(at: moment)
    }

    private func passTime(_ moment: Moment) {
        outbox.passTime(now: moment.monotonic)
        devices.breaker.tick(now: moment.monotonic)
        deliveries.passTime(at: moment)
        cooling.forgetIfDue(now: moment.monotonic)
        credential.passTime(at: moment)
    }

    /// Sends as much as a host takes.
    func send(to host: Destination, onlyHigh: Bool = false, at moment: Moment) {
        if dispatch.send(to: host, onlyHigh: onlyHigh, at: moment) { goesOnAtOnce = true }
    }

    /// Lets a stopped route look for expired jobs, only in workers that serve the route.
    private func searchForExpired(at moment: Moment, _ condition: LaneCondition) {
        let isAllowed = isServed && claim != nil && !condition.isDraining && !condition.isHeldUp
        let hasMore = expirySearch.goOn(
            isAllowed: isAllowed, isConsuming: channel.consumer.isConsuming, mayReceive: channel.consumer.mayReceive,
            at: moment)
        goesOnAtOnce = goesOnAtOnce || hasMore
    }

    /// The arguments of the route's consumers.
    var consumerArguments: FieldTable { expirySearch.consumerArguments }

    /// Sets the prefetch that breaker, credit and connections want.
    ///
    /// The prefetch is 0 while the lane drains or another worker serves the route. It is also 0 while results cannot go
    /// out, and while a look for expired jobs ends.
    func updateIntake(_ condition: LaneCondition) {
        guard isServed, !condition.isDraining, !condition.isHeldUp, !outbox.isHeldUp, !expirySearch.look.isEnding else {
            return channel.want(nil)
        }
        channel.want(
            RoutePrefetch.Situation(
                intake: devices.breaker.intake, streams: hosts.streams,
                hasSuspects: deliveries.intake.hasSuspects, isNarrow: deliveries.intake.isNarrow,
                isQuiet: devices.isQuiet,
                isUnconnected: hosts.areUnconnected, isSendingOn: arrivals.isSendingOn,
                isLooking: expirySearch.look.isLooking))
    }

    /// Holds the route to another configured rate from now on; nil for no limit.
    func limit(to rate: SendingRate?) { follow(rates.limit(to: rate)) }

    /// Holds the route to another part of the rate that operators set for all workers; nil for no limit.
    ///
    /// - Returns: Whether that is news.
    @discardableResult
    func limitForFleet(to rate: SendingRate?) -> Bool {
        guard let change = rates.limitForFleet(to: rate) else { return false }
        follow(change)
        return true
    }

    private func follow(_ change: RouteRates.Change) {
        guard change != .none else { return }
        backlog.rateChanged(isLower: change == .lower && prefetch.followsRate)
        prefetch.limit(to: rates.current?.promised)
    }

    /// Whether other workers take over this worker's part of a rate for all workers. They do so within seconds, so jobs
    /// that were not sent go to them.
    private func leavesItsPart(_ condition: LaneCondition) -> Bool {
        rates.hasPart && (condition.isDraining || !isServed)
    }

    // MARK: The way of a job

    /// Takes one delivery of the route's channel.
    ///
    /// - Returns: False when the delivery's tag is out of sequence, which means the channel cannot be trusted any more.
    func delivered(_ delivery: consuming Delivery, at moment: Moment) -> Bool {
        // What still arrives on a channel that is given up comes again.
        guard !channel.consumer.isAbandoned else { return true }
        return arrivals.delivered(delivery, at: moment)
    }

    /// APNs answered a request, or provably or possibly did not.
    func answered(_ tag: Int, _ answer: PushAnswer, on destination: Destination, at moment: Moment) {
        settlement.answered(tag, answer, on: destination, at: moment)
    }

    /// The broker took a publication, or lost a reply.
    func published(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment) {
        settlement.published(publication, fate, at: moment)
    }

    /// Sends what is owed for deliveries: acknowledgements that are due, and what goes back to the broker.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - isDraining: Whether the lane drains. Acknowledgements then do not wait for others.
    ///   - send: Sends one method; false where the connection has no room for it.
    /// - Returns: What was sent.
    /// - Throws: What `send` throws.
    func settleDeliveries<Failure: Error>(
        at moment: Moment, isDraining: Bool, _ send: (DeliveryLedger.Debt) throws(Failure) -> Bool
    ) throws(Failure) -> DeliveryLedger.Payment {
        try deliveries.settle(at: moment, isDraining: isDraining, send)
    }

    // MARK: What the lane asks

    /// Whether no request is open and nothing waits to be sent.
    var isQuiet: Bool {
        hosts.areQuiet && outbox.refused.isEmpty && !deliveries.intake.hasSuspects
    }

    /// Whether it has no delivery.
    var isIdle: Bool { deliveries.isEmpty }

    /// Whether nothing is in flight, and nothing more can arrive.
    var isDrained: Bool { isQuiet && !outbox.hasBatches && !channel.consumer.mayReceive && deliveries.ledger.isSettled }

    /// Why the broker's deliveries cannot be trusted, for people; nil while the broker delivered no more than the
    /// prefetch allows.
    var overrun: String? {
        guard deliveries.ledger.isOverrun else { return nil }
        let ledger = deliveries.ledger
        return "the broker delivered \(ledger.unacknowledged) messages to route \(name), and its prefetch allows "
            + "\(ledger.mostUnacknowledged)"
    }

    /// Whether something waits until RabbitMQ has all acknowledgements: a suspect, or connections that are to close
    /// because other workers serve the route.
    var awaitsAcknowledgements: Bool { deliveries.intake.hasSuspects || (!isServed && devices.pool != nil) }

    /// Whether the route has something to do that only waits until results can leave.
    var waitsForPublisher: Bool {
        guard outbox.refused.isEmpty else { return true }
        let wantsToSend = hosts.wantToSend || deliveries.intake.hasSuspects
        return outbox.isHeldUp || wantsToSend && outbox.isCongested
    }

    /// Whether a route that waited for results to go out can go on. The lane asks once its publisher is not congested.
    var mayGoOn: Bool { outbox.mayGoOn }

    /// This worker takes jobs of the route from now on, or leaves them to others. A route that leaves takes none.
    ///
    /// - Returns: Whether that is news.
    @discardableResult
    func serve(_ isServed: Bool) -> Bool {
        guard !isLeaving, isServed != self.isServed else { return false }
        self.isServed = isServed
        return true
    }

    /// Does what operators want from now on.
    ///
    /// The route that answers jobs nobody claims pushes nothing, so it follows no operator.
    ///
    /// - Returns: Whether that is news.
    @discardableResult
    func follow(_ control: RouteControl) -> Bool {
        guard claim != nil, control != self.control else { return false }
        self.control = control
        settlement.campaigns = control.campaigns
        if let trust = control.trust { deadTokens.trust(by: trust) }
        return true
    }

    // MARK: How it leaves

    /// Whether it was removed.
    var isLeaving: Bool { tenure != .staying }
    /// Whether the lane has let go of it.
    var hasLeft: Bool { tenure == .left || tenure == .vacant }

    /// Takes no more jobs, and gives back those that were not sent.
    func leave() {
        tenure.step(to: .leaving)
        isServed = false
    }

    /// Closes the connections to APNs, and the channel in a while, once nothing is left of a route that leaves.
    ///
    /// - Returns: Whether the route ends now.
    func endOnceDrained(at moment: Moment) -> Bool {
        guard tenure == .leaving, isDrained, outbox.underWay == 0, tenure.step(to: .ended) else { return false }
        for host in hosts.all { rest(host) }
        channel.end(now: moment.monotonic)
        return true
    }

    /// The lane lets go of a route that has ended.
    ///
    /// - Returns: Whether the lane does so now; false if the route has not ended, or the lane let go of it before.
    func letGo() -> Bool { tenure.step(to: .left) }

    /// Makes the position free for another route, once the lane has let go of this route and its channel is closed.
    ///
    /// - Returns: Whether the position is free from now on.
    func vacate() -> Bool { channel.consumer.isClosed && tenure.step(to: .vacant) }

    /// The lane ends: closes all connections to APNs.
    func close() { hosts.close() }
}
