import EventLoop
import PushModel

// From the broker's confirms of all that a job led to, to the acknowledgement of its delivery.
extension Route {
    /// The broker took a publication, or lost a reply.
    func published(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment) {
        outbox.ended(publication, fate, at: moment, counting: &counters)
        if case .batch(let batch, _) = publication.content {
            for part in batch.parts {
                if outbox.confirmed(part.job, part.count) { finish(part.job, at: moment) }
            }
        } else if outbox.confirmed(publication.job) {
            finish(publication.job, at: moment)
        }
    }

    /// Everything a job asked for is confirmed. Its delivery is acknowledged, or rejected if the broker writes the dead
    /// letter.
    func finish(_ job: JobInFlight, at moment: Moment) {
        guard holds(job) else {
            if job.isComplete, let key = job.redeliveryKey {
                intake.finished(key, peers.here(job), isRemembered: !job.comesBackUnchanged)
            }
            return
        }
        guard !job.isRejected else {
            ledger.reject(job, at: moment)
            return
        }
        FailPoint.reached(.confirmedUnacknowledged)
        counters.jobDuration.record(microseconds: Int(1_000 * (job.settledAt.map { $0 - job.receivedAt } ?? 0)))
        guard job.lent == nil else { return peers.settleLent(job) }
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
