import EventLoop
import PushModel

// From the broker's confirms of all that a job led to, to the acknowledgement of its delivery.
extension Route {
    /// The broker took a publication, or lost a reply.
    func published(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment) {
        outbox.ended(publication, fate, at: moment, counting: &tally.counters)
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
        guard deliveries.finish(job, at: moment) else { return }
        tally.counters.jobDuration.record(microseconds: Int(1_000 * (job.settledAt.map { $0 - job.receivedAt } ?? 0)))
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
}
