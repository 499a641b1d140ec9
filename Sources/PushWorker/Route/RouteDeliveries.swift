import EventLoop
import PushModel
import RabbitMQ

/// The deliveries of a route, until they are settled: what is owed for each, and which were made before.
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
        /// It drops the job, which was pushed before. The delivery is settled.
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

    /// The deliveries that are not settled yet, and what is owed to the broker for them.
    private(set) var ledger = DeliveryLedger()
    /// Decides how redeliveries are taken in.
    private(set) var intake = DeliveryIntake()

    /// A route without deliveries.
    init() {}

    /// Whether a job has a delivery that can still be settled.
    func holds(_ job: JobInFlight) -> Bool { ledger.holds(job) }

    /// Whether the broker waits for no acknowledgement of the route.
    var isEmpty: Bool { ledger.unacknowledged == 0 }

    /// Whether nothing is owed, and held suspects are the only deliveries that are not acknowledged.
    private var hasOnlySuspects: Bool { !ledger.hasDebts && ledger.unacknowledged == intake.heldCount }

    /// When it has something to do only because time passed; `distantFuture` for never. Forgetting does not count
    /// (`DeliveryIntake.nextForgetting`).
    func nextDue(after now: MonotonicTime) -> MonotonicTime {
        min(ledger.nextDue ?? .distantFuture, intake.nextDue(after: now) ?? .distantFuture)
    }

    // MARK: Arriving

    /// Makes the receipt of a delivery; nil where its tag is not the next one of the channel.
    func delivered(_ tag: UInt64) -> Receipt? { ledger.delivered(tag) }

    /// How a delivery that came back so often is to be taken in.
    func arrived(
        _ delivery: borrowing Delivery, returns: Int64, earlier: Journal?, at moment: Moment
    ) -> PoisonWatch<HeldDelivery>.Treatment {
        intake.arrived(delivery, returns: returns, earlier: earlier, at: moment)
    }

    /// Holds a suspect, to be taken up alone.
    func hold(
        _ held: HeldDelivery, returns: Int64, at moment: Moment, random: inout some RandomNumberGenerator
    ) {
        intake.hold(held, returns: returns, at: moment, random: &random)
    }

    /// The next suspect; nil while something else of the route is under way.
    ///
    /// - Parameters:
    ///   - isIdle: Whether nothing is sent, or waits to be.
    ///   - moment: The time.
    func takeSuspect(isIdle: Bool, at moment: Moment) -> HeldDelivery? {
        intake.takeSuspect(isIdle: isIdle, isAlone: hasOnlySuspects, at: moment)
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

    /// Why a delivery must not be pushed: its job was pushed already, or is open here. Nil where it may be pushed.
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
            ledger.finish(delivery.takeReceipt(), at: moment)
            return .suppressed
        }
        return nil
    }

    /// Looks in the memory for an earlier delivery of the same job. What was pushed for that delivery counts for this
    /// one.
    private func recognise(_ delivery: JobInFlight, at moment: Moment) -> Recognition {
        guard let key = delivery.redeliveryKey else { return .unsent }
        switch intake.recognise(key, as: delivery.origin, at: moment) {
        case .unknown: return .unknown
        case .unsent: return .unsent
        case .settled:
            ledger.finish(delivery.takeReceipt(), at: moment)
            // The acknowledgement of this delivery can be lost, too.
            intake.settled(key, as: delivery.origin, at: moment)
            return .pushed(.suppressed)
        case .unfinished(let job):
            // The job's channel was gone, and now the broker delivered it again.
            job.redelivered(as: delivery)
            ledger.took(job)
            return .pushed(.resumed(job))
        }
    }

    // MARK: Settling

    /// Everything a job asked for is confirmed. Its delivery is acknowledged, or rejected if the broker writes the dead
    /// letter.
    ///
    /// - Returns: Whether it is acknowledged.
    func finish(_ job: JobInFlight, at moment: Moment) -> Bool {
        guard holds(job) else {
            if job.isComplete, let key = job.redeliveryKey {
                intake.finished(key, job, isRemembered: !job.comesBackUnchanged)
            }
            return false
        }
        guard !job.isRejected else {
            ledger.reject(job, at: moment)
            return false
        }
        FailPoint.reached(.confirmedUnacknowledged)
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
        ledger.requeue(job, at: moment)
    }

    /// All suspects that are held go back to the broker unread.
    ///
    /// - Returns: How many there were.
    func giveBackSuspects(at moment: Moment) -> Int {
        let suspects = intake.releaseSuspects()
        for suspect in suspects { ledger.requeue(suspect.takeReceipt(), at: moment) }
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

    // MARK: Time and generations

    /// Time passed.
    func passTime(at moment: Moment) { intake.tick(at: moment) }

    /// The broker opened the channel.
    func generationBegan(at moment: Moment) {
        intake.generationBegan(at: moment)
        ledger.begin()
    }

    /// The channel is gone. Jobs that were not sent come again, and those that were sent are remembered.
    func generationEnded(at moment: Moment) {
        intake.generationEnded(ledger.end(), at: moment)
    }

    /// The consumer started. The first messages of the queue are on their way.
    func consumeStarted(at moment: Moment) { intake.consumeStarted(at: moment) }

    /// A consumer is asked for: more may be delivered from now on.
    ///
    /// - Parameters:
    ///   - prefetch: How many deliveries it may hold.
    ///   - present: How many deliveries the other consumers may hold together.
    func granted(_ prefetch: Int, besideMessages present: Int) {
        ledger.granted(prefetch, besideMessages: present)
    }
}
