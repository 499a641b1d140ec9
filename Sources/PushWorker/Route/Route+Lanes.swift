import EventLoop
import PushModel

// The messages between the lanes of one route.
extension Route {
    /// Tells the same route on another lane.
    ///
    /// - Returns: Whether that lane is there.
    @discardableResult
    func tell(_ lane: Int, _ message: RouteMessage) -> Bool {
        guard claim != nil else { return false }
        return surroundings.tell(lane, .route(number, message))
    }

    /// Tells the same route on all other lanes.
    ///
    /// - Returns: How many of them are there.
    @discardableResult
    func tellOthers(_ message: RouteMessage) -> Int {
        shared.lanes.count { $0 != surroundings.lane && tell($0, message) }
    }

    /// The same route on another lane says something.
    func told(_ message: RouteMessage, at moment: Moment) {
        switch message {
        case .asked(let delivery, let isCopy): answer(delivery, isCopy: isCopy, at: moment)
        case .answered(let delivery, let isKnown):
            guard delivery.generation == ledger.generation,
                let one = asked.answered(delivery.deliveryTag, isKnown: isKnown)
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

    /// Tells the other lanes what they must know of suspects. One lane at a time takes a suspect up, while all others
    /// stand still.
    func shareSuspects() {
        guard shared.lanes.count > 1 else { return }
        let lane = surroundings.lane
        // A lane that cannot take its suspects up now keeps no other lane waiting.
        let hasSuspects = intake.hasSuspects && devices.breaker.intake != .none
        var isNews = hasSuspects != saidSuspects
        if isNews {
            saidSuspects = hasSuspects
            shared.suspects.note(lane, hasSuspects: saidSuspects)
        }
        if let turn = shared.suspects.lane {
            let isStill =
                turn != lane && !consumer.mayReceive && !ledger.hasDebts
                && ledger.unacknowledged == intake.heldCount
            if shared.suspects.note(lane, isStill: isStill) { isNews = true }
        }
        guard isNews else { return }
        for other in shared.lanes where other != lane && !tell(other, .suspectsChanged) {
            // A lane that has ended does nothing any more.
            _ = shared.suspects.note(other, isStill: true)
        }
    }

    /// Whether this lane has to stand still, because another lane takes up suspects.
    var makesRoomForSuspects: Bool { shared.suspects.lane.map { $0 != surroundings.lane } ?? false }

    /// Whether a job has a delivery that can still be settled, here or on another lane.
    func holds(_ job: JobInFlight) -> Bool { job.lent != nil || ledger.holds(job) }

    /// A job as other lanes know it.
    func onThisLane(_ job: JobInFlight) -> JobOnLane { JobOnLane(lane: surroundings.lane, job: job) }

    // MARK: On the lane with the delivery

    /// Asks the other lanes about a delivery that may have been made before.
    ///
    /// - Parameters:
    ///   - job: The job that the delivery became; it waits for the answers.
    ///   - isCopy: Whether the job is a copy that the broker may have twice; it is not a redelivery then.
    ///   - moment: The time.
    /// - Returns: Whether anybody was asked.
    func askOthers(about job: JobInFlight, isCopy: Bool, at moment: Moment) -> Bool {
        guard shared.lanes.count > 1, let key = job.redeliveryKey else { return false }
        let others = tellOthers(.asked(onThisLane(job, key), isCopy: isCopy))
        guard others > 0 else { return false }
        // The job counts as not sent where the channel is lost meanwhile.
        ledger.took(job)
        asked.ask(job, isCopy: isCopy, lanes: others, now: moment.monotonic)
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
        for one in asked.overdue(now: moment.monotonic) { goOn(with: one, at: moment) }
    }

    /// Lends a delivery to the job on another lane that was pushed for an earlier one.
    ///
    /// - Returns: False where that lane has ended, and nobody will go on with the job.
    func lend(_ delivery: JobInFlight, _ key: RedeliveryKey, to job: JobOnLane) -> Bool {
        let lent = onThisLane(delivery, key)
        guard tell(job.lane, .lent(lent, for: job)) else { return false }
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

    /// A delivery as other lanes know it.
    private func onThisLane(_ delivery: JobInFlight, _ key: RedeliveryKey) -> DeliveryOnLane {
        DeliveryOnLane(
            lane: surroundings.lane, generation: delivery.generation, deliveryTag: delivery.deliveryTag,
            origin: delivery.origin, key: key)
    }

    // MARK: On the lane with the job

    /// Tells another lane what this one has of a delivery.
    private func answer(_ delivery: DeliveryOnLane, isCopy: Bool, at moment: Moment) {
        if isCopy {
            let keys = heldKeys(at: moment)
            // Where lanes ask each other about one copy each, the first lane goes on.
            let isFirst = surroundings.lane < delivery.lane && keys.askedCopies.contains(delivery.key)
            tell(delivery.lane, .answered(delivery, isKnown: isFirst || keys.firsts.contains(delivery.key)))
            return
        }
        guard ledger.isOpen, heldKeys(at: moment).all.contains(delivery.key) else {
            tell(delivery.lane, .answered(delivery, isKnown: false))
            return
        }
        // Either the delivery is of another message that looks the same, or the channel is gone and this lane does not
        // know it yet.
        doubts.waiting.append(delivery)
        consumer.askForProof()
    }

    /// The channel has proved alive: no other lane has its deliveries.
    func channelProved() { answerDoubts(&doubts.proving) }

    /// The channel is gone, and its jobs are in the memory.
    func channelGone() {
        answerDoubts(&doubts.proving)
        answerDoubts(&doubts.waiting)
    }

    private func answerDoubts(_ deliveries: inout [DeliveryOnLane]) {
        let all = deliveries
        deliveries = []
        for one in all { tell(one.lane, .answered(one, isKnown: false)) }
    }

    /// The jobs that the present generation works on or has settled lately; made once for all questions of a turn.
    private func heldKeys(at moment: Moment) -> HeldKeys {
        if let doubtKeys = doubts.keys { return doubtKeys }
        var keys = HeldKeys()
        for key in intake.recentKeys(at: moment) {
            keys.all.insert(key)
            keys.firsts.insert(key)
        }
        ledger.forEach { job in
            guard let key = job.redeliveryKey else { return }
            keys.all.insert(key)
            if asked.isCopy(job) {
                keys.askedCopies.insert(key)
            } else if !job.comesBackUnchanged {
                // A copy may be all that is left of a job that comes back unchanged.
                keys.firsts.insert(key)
            }
        }
        for (delivery, _) in intake.lentDeliveries { keys.all.insert(delivery.key) }
        doubts.keys = keys
        return keys
    }

    /// Goes on with a job of this lane, now that another one has its delivery.
    private func take(_ delivery: DeliveryOnLane, for job: JobOnLane, at moment: Moment) {
        // A later delivery was quicker: the lent delivery is gone.
        guard !ledger.holds(job.job) else {
            tell(delivery.lane, .settled(delivery, of: job, .givenBack))
            return
        }
        // The job may have finished while the other lane's message was under way.
        let isOver = job.job.isComplete
        job.job.redelivered(as: delivery)
        if isOver { settleLent(job.job) } else { resume(job.job, at: moment) }
    }

    /// Everything a job asked for is confirmed: the lane with its delivery may acknowledge the delivery.
    func settleLent(_ job: JobInFlight) { giveUpLent(job, .acknowledged(isRemembered: !job.comesBackUnchanged)) }

    /// A job goes back to the broker, for another worker.
    func giveBackLent(_ job: JobInFlight) {
        // Where the channel is gone by then, the job goes on with its next delivery.
        job.postpone(Notification(job: job, index: job.job.nextIndex(from: 0) ?? 0))
        giveUpLent(job, .givenBack)
    }

    private func giveUpLent(_ job: JobInFlight, _ fate: LentFate) {
        guard let lent = job.lent else { return }
        job.losesLent()
        tell(lent.lane, .settled(lent, of: onThisLane(job), fate))
    }
}
