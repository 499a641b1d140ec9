import EventLoop
import PushModel

// The messages between the lanes of one route.
extension Route {
    /// The same route on another lane says something.
    func told(_ message: RouteMessage, at moment: Moment) {
        switch message {
        case .asked(let delivery, let isCopy):
            if questions.answer(delivery, isCopy: isCopy, ledger: ledger, intake: intake, at: moment) {
                consumer.askForProof()
            }
        case .answered(let delivery, let isKnown):
            guard delivery.generation == ledger.generation,
                let one = questions.answered(delivery.deliveryTag, isKnown: isKnown)
            else { return }
            goOn(with: one, at: moment)
        case .lent(let delivery, let job): take(delivery, for: job, at: moment)
        case .settled(let delivery, let job, let fate): settle(delivery, of: job, fate, at: moment)
        case .lost(let delivery, let job):
            guard job.job.lent == delivery else { return }
            job.job.losesLent()
            destination(Destination.Kind(job.job.job.operation))?.drop { $0 === job.job }
        case .credential(let news): learn(news, at: moment)
        // The lane looks at the route in any case.
        case .suspectsChanged: break
        }
    }

    /// Tells the other lanes what they must know of suspects.
    func shareSuspects() {
        suspects.share(
            hasSuspects: intake.hasSuspects && devices.breaker.intake != .none,
            isStill: !consumer.mayReceive && !ledger.hasDebts && ledger.unacknowledged == intake.heldCount)
    }

    /// Whether a job has a delivery that can still be settled, here or on another lane.
    func holds(_ job: JobInFlight) -> Bool { job.lent != nil || ledger.holds(job) }

    // MARK: On the lane with the delivery

    /// Asks the other lanes about a delivery that may have been made before.
    ///
    /// - Parameters:
    ///   - job: The job that the delivery became; it waits for the answers.
    ///   - isCopy: Whether the job is a copy that the broker may have twice; it is not a redelivery then.
    ///   - moment: The time.
    /// - Returns: Whether anybody was asked.
    func askOthers(about job: JobInFlight, isCopy: Bool, at moment: Moment) -> Bool {
        guard questions.ask(about: job, isCopy: isCopy, now: moment.monotonic) else { return false }
        // The job counts as not sent where the channel is lost meanwhile.
        ledger.took(job)
        return true
    }

    /// All lanes have answered. If one of them had the job, the memory knows it now.
    private func goOn(with one: AskedDeliveries.Asked, at moment: Moment) {
        ledger.leave(one.job)
        guard !one.isKnown else { return suppressCopy(one.job, at: moment) }
        guard suppressRedelivery(one.job, at: moment) != .suppressed else { return }
        ledger.took(one.job)
        takeIn(one.job, at: moment)
    }

    /// Goes on with deliveries about which a lane has not answered for too long.
    func goOnUnanswered(at moment: Moment) {
        for one in questions.overdue(now: moment.monotonic) { goOn(with: one, at: moment) }
    }

    /// Lends a delivery to the job on another lane that was pushed for an earlier one.
    ///
    /// - Returns: False where that lane has ended, and nobody will go on with the job.
    func lend(_ delivery: JobInFlight, _ key: RedeliveryKey, to job: JobOnLane) -> Bool {
        let lent = peers.here(delivery, key)
        guard peers.tell(job.lane, .lent(lent, for: job)) else { return false }
        intake.lend(lent, to: job, bytes: delivery.job.bytes.count)
        return true
    }

    /// The job on another lane is done with a delivery that was lent to it.
    private func settle(_ delivery: DeliveryOnLane, of job: JobOnLane, _ fate: LentFate, at moment: Moment) {
        let canSettle = intake.takeBack(delivery)
        switch fate {
        case .acknowledged(let isRemembered) where canSettle:
            ledger.finish(delivery.deliveryTag, at: moment)
            if isRemembered { intake.settled(delivery.key, as: delivery.origin, at: moment) }
        case .givenBack where canSettle: ledger.requeue(delivery.deliveryTag, at: moment)
        // Its channel was gone by then, and the job was noted as one under way.
        case .acknowledged(let isRemembered): intake.finished(delivery.key, job, isRemembered: isRemembered)
        case .givenBack: intake.finished(delivery.key, job, isRemembered: false)
        }
    }

    // MARK: On the lane with the job

    /// Goes on with a job of this lane, now that another one has its delivery.
    private func take(_ delivery: DeliveryOnLane, for job: JobOnLane, at moment: Moment) {
        // A later delivery was quicker: the lent delivery is gone.
        guard !ledger.holds(job.job) else {
            peers.tell(delivery.lane, .settled(delivery, of: job, .givenBack))
            return
        }
        // The job may have finished while the other lane's message was under way.
        let isOver = job.job.isComplete
        job.job.redelivered(as: delivery)
        if isOver { peers.settleLent(job.job) } else { resume(job.job, at: moment) }
    }
}
