import EventLoop
import PushModel
import RabbitMQ

/// The deliveries of a route on one lane, until they are settled: what is owed for each, which were made before, and
/// which belong to jobs on other lanes.
///
/// - The route works on the job that a delivery became. A `Verdict` tells the route whether to take the job in.
/// - Deliveries are settled here, and also remembered here as settled, so that both always happen together.
///
/// A class, because all parts that settle jobs share it. Confined to its lane. Time and randomness come in.
final class RouteDeliveries {
    /// What the route does with the job that a delivery became.
    enum Verdict {
        /// It takes the job in.
        case taken
        /// It keeps the job waiting: other lanes were asked about the delivery.
        case asked
        /// It drops the job, which was pushed before. The delivery is settled, or will be by a job on another lane.
        case suppressed
        /// It drops the job, and goes on with an earlier one that has this delivery now.
        case resumed(JobInFlight)
    }

    /// What the memory of redeliveries says about a delivery.
    private enum Recognition {
        /// Nothing.
        case unknown
        /// The job was not pushed.
        case unsent
        /// This worker pushed the job, at least in part. The delivery needs no push of its own.
        case pushed(Verdict)
    }

    private let peers: RoutePeers
    /// The deliveries that are not settled yet, and what is owed to the broker for them.
    private(set) var ledger = DeliveryLedger()
    /// Decides how redeliveries are taken in.
    private(set) var intake: DeliveryIntake
    /// The questions that the lanes ask each other.
    private var questions: LaneQuestions
    /// What the lanes tell each other about suspects.
    private(set) var suspects: LaneSuspects

    /// A route without deliveries.
    ///
    /// - Parameters:
    ///   - shared: What the lanes of the route share.
    ///   - peers: The other lanes.
    init(_ shared: SharedRouteState, among peers: RoutePeers) {
        self.peers = peers
        intake = DeliveryIntake(shared.redeliveries, lane: peers.lane, lanes: peers.lanes.count)
        questions = LaneQuestions(among: peers)
        suspects = LaneSuspects(shared.suspects, among: peers)
    }

    /// Whether a job has a delivery that can still be settled, here or on another lane.
    func holds(_ job: JobInFlight) -> Bool { job.lent != nil || ledger.holds(job) }

    /// Whether the broker waits for no acknowledgement of the route.
    var isEmpty: Bool { ledger.unacknowledged == 0 }

    /// Whether nothing is owed, and held suspects are the only deliveries that are not acknowledged.
    private var hasOnlySuspects: Bool { !ledger.hasDebts && ledger.unacknowledged == intake.heldCount }

    /// When it has something to do only because time passed; `distantFuture` for never. Forgetting does not count
    /// (`DeliveryIntake.nextForgetting`).
    func nextDue(after now: MonotonicTime) -> MonotonicTime {
        let never = MonotonicTime.distantFuture
        let due = min(ledger.nextDue ?? never, intake.nextDue(after: now) ?? never)
        return min(due, questions.nextDue ?? never)
    }

    // MARK: Arriving

    /// A delivery arrived.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - returns: How often it came back.
    ///   - earlier: What an earlier process noted.
    ///   - moment: The time.
    /// - Returns: How to take it in; nil where its tag is not the next one of the channel.
    func arrived(
        _ delivery: borrowing Delivery, returns: Int64, earlier: Journal?, at moment: Moment
    ) -> PoisonWatch<Delivery>.Treatment? {
        guard ledger.delivered(delivery.deliveryTag) else { return nil }
        return intake.arrived(delivery, returns: returns, earlier: earlier, at: moment)
    }

    /// Holds a suspect, to be taken up alone.
    func hold(
        _ delivery: Delivery, returns: Int64, at moment: Moment, random: inout some RandomNumberGenerator
    ) {
        intake.hold(delivery, returns: returns, at: moment, random: &random)
    }

    /// The next suspect; nil while something else of the route is under way, here or on another lane.
    ///
    /// - Parameters:
    ///   - isIdle: Whether nothing is sent, or waits to be.
    ///   - moment: The time.
    func takeSuspect(isIdle: Bool, at moment: Moment) -> Delivery? {
        guard suspects.mayTake else { return nil }
        return intake.takeSuspect(isIdle: isIdle && questions.isEmpty, isAlone: hasOnlySuspects, at: moment)
    }

    /// Notes a job that a delivery became, without asking whether the job was pushed before.
    func took(_ job: JobInFlight) { ledger.took(job) }

    /// A delivery became a job.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - isFirstDelivery: Whether the broker did not mark the delivery as redelivered. The job may still be a copy
    ///     that the broker has twice.
    ///   - moment: The time.
    func take(_ job: JobInFlight, isFirstDelivery: Bool, at moment: Moment) -> Verdict {
        if job.job.redelivered, let verdict = judge(job, isFirstDelivery: isFirstDelivery, at: moment) {
            return verdict
        }
        ledger.took(job)
        return .taken
    }

    /// Why a delivery must not be pushed now: its job was pushed already or is open here, or other lanes were asked and
    /// have not answered. Nil where it may be pushed.
    private func judge(_ delivery: JobInFlight, isFirstDelivery: Bool, at moment: Moment) -> Verdict? {
        switch recognise(delivery, at: moment) {
        case .pushed(let verdict): return verdict
        case .unsent: return nil
        case .unknown: break
        }
        // Drop the second copy of a retry that was published twice: the first is settled, or still open here. An open
        // one comes back if this worker dies.
        if isFirstDelivery, let key = delivery.redeliveryKey,
            intake.hasSettled(key, at: moment) || ledger.contains(where: { $0.isFirst(of: delivery, key) })
        {
            ledger.finish(delivery.deliveryTag, at: moment)
            return .suppressed
        }
        guard questions.ask(about: delivery, isCopy: isFirstDelivery, now: moment.monotonic) else { return nil }
        // If the channel is lost before the lanes answer, the memory counts the job neither as sent nor as unsent.
        ledger.took(delivery)
        return .asked
    }

    /// Looks in the memory for an earlier delivery of the same job. What was pushed for that delivery counts for this
    /// one.
    private func recognise(_ delivery: JobInFlight, at moment: Moment) -> Recognition {
        guard let key = delivery.redeliveryKey else { return .unsent }
        switch intake.recognise(key, as: delivery.origin, at: moment) {
        case .unknown: return .unknown
        case .unsent: return .unsent
        case .settled:
            ledger.finish(delivery.deliveryTag, at: moment)
            // The acknowledgement of this delivery can be lost, too.
            intake.settled(key, as: delivery.origin, at: moment)
            return .pushed(.suppressed)
        case .unfinished(let job) where job.lane == peers.lane:
            // The job's channel was gone, and now the broker delivered it again.
            job.job.redelivered(as: delivery)
            ledger.took(job.job)
            return .pushed(.resumed(job.job))
        case .unfinished(let job): return lend(delivery, key, to: job) ? .pushed(.suppressed) : .unsent
        }
    }

    // MARK: Settling

    /// Everything a job asked for is confirmed. Its delivery is acknowledged, or rejected if the broker writes the dead
    /// letter.
    ///
    /// - Returns: Whether it is acknowledged, here or on the lane that lent it.
    func finish(_ job: JobInFlight, at moment: Moment) -> Bool {
        guard holds(job) else {
            if job.isComplete, let key = job.redeliveryKey {
                intake.finished(key, peers.here(job), isRemembered: !job.comesBackUnchanged)
            }
            return false
        }
        guard !job.isRejected else {
            ledger.reject(job, at: moment)
            return false
        }
        FailPoint.reached(.confirmedUnacknowledged)
        guard job.lent == nil else {
            peers.settleLent(job)
            return true
        }
        ledger.finish(job, at: moment)
        // A retry copy with the same attempt has the same key. It must not pass for this delivery.
        if !job.comesBackUnchanged, let key = job.redeliveryKey {
            intake.settled(key, as: job.origin, at: moment)
        }
        return true
    }

    /// A job goes back to the broker unsent, for another worker.
    func giveBack(_ job: JobInFlight, at moment: Moment) {
        intake.handedBack(job, at: moment)
        if job.lent == nil { ledger.requeue(job, at: moment) } else { peers.giveBackLent(job) }
    }

    /// All suspects that are held go back to the broker unread.
    ///
    /// - Returns: How many there were.
    func giveBackSuspects(at moment: Moment) -> Int {
        let suspects = intake.releaseSuspects()
        for suspect in suspects { ledger.requeue(suspect, at: moment) }
        return suspects.count
    }

    /// Sends what is owed for deliveries: acknowledgements that are due, and what goes back to the broker.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - isDraining: Whether the lane drains. Acknowledgements then do not wait for others.
    ///   - send: Sends one method; false where the connection has no room for it.
    /// - Returns: What was sent.
    /// - Throws: What `send` throws.
    func settle<Failure: Error>(
        at moment: Moment, isDraining: Bool, _ send: (DeliveryLedger.Debt) throws(Failure) -> Bool
    ) throws(Failure) -> DeliveryLedger.Payment {
        var payment = DeliveryLedger.Payment()
        guard ledger.isOpen else { return payment }
        // A suspect is done once it is acknowledged. The next suspect waits for that.
        payment.acknowledged = ledger.decide(at: moment, flush: isDraining || intake.hasSuspects)
        FailPoint.reached(.acknowledgedUnflushed, if: ledger.hasDebts)
        while let debt = ledger.nextDebt {
            guard try send(debt) else {
                payment.isComplete = false
                return payment
            }
            ledger.paid()
            payment.sent += 1
        }
        return payment
    }

    // MARK: Other lanes, about deliveries of this one

    /// A lane has answered.
    ///
    /// - Returns: The delivery that was asked about, once all lanes have answered, or one has the first of two copies.
    func answered(_ delivery: DeliveryOnLane, isKnown: Bool) -> AskedDeliveries.Asked? {
        guard delivery.generation == ledger.generation else { return nil }
        return questions.answered(delivery.deliveryTag, isKnown: isKnown)
    }

    /// Judges a delivery about which lanes were asked. If one of them had the job, the memory knows it now.
    func judge(_ one: AskedDeliveries.Asked, at moment: Moment) -> Verdict {
        ledger.leave(one.job)
        guard !one.isKnown else {
            ledger.finish(one.job.deliveryTag, at: moment)
            return .suppressed
        }
        if case .pushed(let verdict) = recognise(one.job, at: moment) { return verdict }
        ledger.took(one.job)
        return .taken
    }

    /// Lends a delivery to the job on another lane that was pushed for an earlier one.
    ///
    /// - Returns: False where that lane has ended, and nobody will go on with the job.
    private func lend(_ delivery: JobInFlight, _ key: RedeliveryKey, to job: JobOnLane) -> Bool {
        let lent = peers.here(delivery, key)
        guard peers.tell(job.lane, .lent(lent, for: job)) else { return false }
        intake.lend(lent, to: job, bytes: delivery.job.bytes.count)
        return true
    }

    /// The job on another lane is done with a delivery that was lent to it.
    func takeBack(_ delivery: DeliveryOnLane, of job: JobOnLane, _ fate: RouteMessage.LentFate, at moment: Moment) {
        let canSettle = intake.takeBack(delivery)
        switch fate {
        case .acknowledged(let isRemembered) where canSettle:
            ledger.finish(delivery.deliveryTag, at: moment)
            if isRemembered { intake.settled(delivery.key, as: delivery.origin, at: moment) }
        case .givenBack where canSettle: ledger.requeue(delivery.deliveryTag, at: moment)
        // The delivery's channel was gone by then, and the memory had noted the job as one under way.
        case .acknowledged(let isRemembered): intake.finished(delivery.key, job, isRemembered: isRemembered)
        case .givenBack: intake.finished(delivery.key, job, isRemembered: false)
        }
    }

    /// Tells the other lanes what they must know about suspects. Only for a route that lives on other lanes, too.
    ///
    /// - Parameters:
    ///   - mayTake: Whether the route could take suspects up now.
    ///   - mayReceive: Whether deliveries can still arrive.
    func shareSuspects(mayTake: Bool, mayReceive: Bool) {
        suspects.share(hasSuspects: intake.hasSuspects && mayTake, isStill: !mayReceive && hasOnlySuspects)
    }

    // MARK: Other lanes, about jobs of this one

    /// Another lane asks about a delivery.
    ///
    /// - Returns: Whether the answer waits until the channel has proved that it is alive.
    func answer(_ delivery: DeliveryOnLane, isCopy: Bool, at moment: Moment) -> Bool {
        questions.answer(delivery, isCopy: isCopy, ledger: ledger, intake: intake, at: moment)
    }

    /// Another lane lends a delivery to a job of this lane.
    ///
    /// - Returns: Whether the job goes on with this delivery; false where nothing is left to do, or where the job has
    ///   another delivery on this lane already.
    func takeLent(_ delivery: DeliveryOnLane, for job: JobOnLane) -> Bool {
        // The job has a later delivery on this lane already, so the lent delivery is gone.
        guard !ledger.holds(job.job) else {
            peers.tell(delivery.lane, .settled(delivery, of: job, .givenBack))
            return false
        }
        // The job may have finished while the other lane's message was under way.
        let isOver = job.job.isComplete
        job.job.redelivered(as: delivery)
        if isOver { peers.settleLent(job.job) }
        return !isOver
    }

    // MARK: Time and generations

    /// Time passed.
    ///
    /// - Returns: Deliveries about which a lane has not answered for too long, to be judged without it.
    func passTime(at moment: Moment) -> [AskedDeliveries.Asked] {
        intake.tick(at: moment)
        return questions.overdue(now: moment.monotonic)
    }

    /// The broker opened the channel.
    ///
    /// - Parameters:
    ///   - generation: Which opening it is.
    ///   - moment: The time.
    func generationBegan(_ generation: UInt32, at moment: Moment) {
        intake.generationBegan(at: moment)
        ledger.begin(generation: generation)
    }

    /// The channel is gone. Jobs that were not sent come again, and those that were sent are remembered.
    func generationEnded(at moment: Moment) {
        // This lane tells the others before they can find the jobs in the memory. So a job's lane hears of the loss
        // before another lane can lend it a delivery.
        for (delivery, job) in intake.lentDeliveries { peers.tell(job.lane, .lost(delivery, of: job)) }
        let unasked = questions.takeAsked()
        for job in unasked { ledger.leave(job) }
        intake.generationEnded(ledger.end(), asked: unasked, at: moment)
        questions.channelGone()
    }

    /// The lane ends: it answers all questions that other lanes wait for.
    func laneEnds() { questions.channelGone() }

    /// The consumer started. The first messages of the queue are on their way.
    func consumeStarted(at moment: Moment) { intake.consumeStarted(at: moment) }

    /// The channel has proved alive: no other lane has its deliveries.
    func channelProved() { questions.channelProved() }

    /// A consumer is asked for: more may be delivered from now on.
    ///
    /// - Parameters:
    ///   - prefetch: How many deliveries it may hold.
    ///   - present: How many deliveries the other consumers may hold together.
    func granted(_ prefetch: Int, besideMessages present: Int) {
        ledger.granted(prefetch, besideMessages: present)
    }

    /// A turn ends.
    ///
    /// - Parameter isProving: Whether the channel is asked for a sign of life with the turn's methods.
    func turnEnded(isProving: Bool) { questions.turnEnded(isProving: isProving) }
}
