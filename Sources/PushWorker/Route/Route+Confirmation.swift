import EventLoop
import PushModel

// From the broker's confirms of all that a job led to, to the acknowledgement of its delivery.
extension Route {
    /// The broker took a publication, or lost a reply.
    func published(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment) {
        publications -= 1
        let job = publication.job
        if case .batch(let batch, let way) = publication.content {
            return published(batch, way, fate, at: moment)
        }
        switch publication.content {
        case .reply(let index, let content, let way): replied(index, content, way, fate, for: job)
        case .retry(_, _, let indexes, _) where fate == .unfit: giveUpCopy(of: job, indexes, at: moment)
        case .retry(let tier, _, let indexes, _): countCopy(of: job, in: tier, indexes)
        case .result, .deadLetter, .batch: break
        }
        job.confirmed()
        refused.confirmed(for: job)
        if job.isFinished { finish(job, at: moment) }
    }

    /// Counts a retry copy that the broker has confirmed.
    ///
    /// - Parameters:
    ///   - job: The job it is a copy of.
    ///   - tier: The position of its tier.
    ///   - indexes: The positions that the copy is about; nil for all of the job.
    private func countCopy(of job: JobInFlight, in tier: Int, _ indexes: [Int]?) {
        counters.retryCopies[tier] += 1
        guard !job.isHeld else { return }
        counters.retries[tier] += indexes?.count ?? job.job.notificationCount
    }

    /// Publishes the result whose reply has met its fate, or the reply again by another way.
    private func replied(
        _ index: Int, _ content: ResultContent, _ way: ReplyWay, _ fate: ConfirmTracker<Publication>.Fate,
        for job: JobInFlight
    ) {
        var content = content
        let bytes = job.job.bytes
        let step = way.step(
            after: fate, address: bytes.span.extracting(job.job.replyTo ?? 0..<0),
            mayWriteToQueues: surroundings.publisher.mayWriteToQueues)
        switch step {
        case .done: break
        case .tryQueue: return publish(.reply(index: index, content, .queue), for: job)
        case .lost(let words):
            counters.repliesLost += 1
            content.report.addDetail("the reply \(words)")
        }
        publish(index, content, isReply: false, for: job)
    }

    /// Everything a job asked for is confirmed. Its delivery is acknowledged, or rejected if the broker writes the dead
    /// letter.
    func finish(_ job: JobInFlight, at moment: Moment) {
        guard holds(job) else {
            if job.isComplete, let key = job.redeliveryKey {
                intake.finished(key, onThisLane(job), isRemembered: !job.comesBackUnchanged)
            }
            return
        }
        guard !job.isRejected else {
            ledger.reject(job, at: moment)
            return
        }
        FailPoint.reached(.confirmedUnacknowledged)
        counters.jobDuration.record(microseconds: Int(1_000 * (job.settledAt.map { $0 - job.receivedAt } ?? 0)))
        guard job.lent == nil else { return settleLent(job) }
        ledger.finish(job, at: moment)
        // A retry copy with the same attempt has the same key. It must not pass for this delivery.
        if !job.comesBackUnchanged, let key = job.redeliveryKey {
            intake.settled(key, as: job.origin, at: moment)
        }
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
        var payment = DeliveryLedger.Payment()
        guard ledger.isOpen else { return payment }
        // A suspect is through once it is acknowledged. The next one waits for that.
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
}
