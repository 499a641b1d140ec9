internal import EventLoop
internal import PushModel

// What a route that lives on several lanes tells the same route on the others.
extension Route {
    /// Tells the same route on another lane.
    func tell(_ lane: Int, _ message: RouteMessage) {
        guard let claim else { return }
        surroundings.tell(lane, .route(claim.index, message))
    }

    /// Tells the same route on all other lanes.
    func tellOthers(_ message: RouteMessage) {
        for lane in shared.lanes where lane != surroundings.lane { tell(lane, message) }
    }

    /// The same route on another lane says something.
    func told(_ message: RouteMessage, at moment: Moment) {
        switch message {
        case .lent(let delivery, let job): take(delivery, for: job, at: moment)
        case .settled(let delivery, let job, let fate): settle(delivery, of: job, fate, at: moment)
        case .lost(let delivery, let job):
            guard job.job.lent == delivery else { return }
            job.job.losesLent()
            destination(Destination.Kind(job.job.job.operation))?.drop { $0 === job.job }
        case .credential(let news): learn(news, at: moment)
        }
    }

    /// Whether a job has a delivery that can still be settled, here or on another lane.
    func holds(_ job: JobInFlight) -> Bool { job.lent != nil || ledger.holds(job) }

    /// A job as other lanes know it.
    func onThisLane(_ job: JobInFlight) -> JobOnLane { JobOnLane(lane: surroundings.lane, job: job) }

    // MARK: On the lane with the delivery

    /// Lends a delivery to the job on another lane that was pushed for an earlier one.
    func lend(_ delivery: JobInFlight, _ key: RedeliveryKey, to job: JobOnLane) {
        let lent = LentDelivery(
            lane: surroundings.lane, generation: delivery.generation, deliveryTag: delivery.deliveryTag,
            origin: delivery.origin, key: key)
        intake.lend(lent, to: job, bytes: delivery.job.bytes.count)
        tell(job.lane, .lent(lent, for: job))
    }

    /// The job on another lane is done with a delivery that was lent to it.
    private func settle(_ delivery: LentDelivery, of job: JobOnLane, _ fate: LentFate, at moment: Moment) {
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
    private func take(_ delivery: LentDelivery, for job: JobOnLane, at moment: Moment) {
        // It may have come about while the delivery was on its way here.
        let isOver = job.job.isComplete
        job.job.redelivered(as: delivery)
        if isOver { settleLent(job.job) } else { resume(job.job, at: moment) }
    }

    /// Everything a job asked for is confirmed: the lane with its delivery may acknowledge that.
    func settleLent(_ job: JobInFlight) { giveUpLent(job, .acknowledged(isRemembered: !job.comesBackUnchanged)) }

    /// A job goes back to the broker, for another worker.
    func giveBackLent(_ job: JobInFlight) {
        // Where that comes too late, for the channel is gone, the job goes on with its next delivery.
        job.postpone(Notification(job: job, index: job.job.nextIndex(from: 0) ?? 0))
        giveUpLent(job, .givenBack)
    }

    private func giveUpLent(_ job: JobInFlight, _ fate: LentFate) {
        guard let lent = job.lent else { return }
        job.losesLent()
        tell(lent.lane, .settled(lent, of: onThisLane(job), fate))
    }
}
