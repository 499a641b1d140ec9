import EventLoop

/// The keys by which the jobs of a lane's present channel generation are recognised.
struct HeldKeys {
    /// The keys of all jobs that are worked on, that were settled lately, or to which a delivery of the lane is lent.
    private(set) var all: Set<RedeliveryKey> = []
    /// The keys of jobs that may be the first of two copies.
    private(set) var firsts: Set<RedeliveryKey> = []
    /// The keys of copies about which the lane itself has asked the others.
    private(set) var askedCopies: Set<RedeliveryKey> = []

    /// Gathers the keys of the jobs that the present generation works on, has settled lately, or lends deliveries to.
    ///
    /// - Parameters:
    ///   - ledger: The jobs that are not settled.
    ///   - intake: Knows what was settled, and what is lent to other lanes.
    ///   - asked: The jobs about which other lanes were asked.
    ///   - moment: The time.
    init(_ ledger: DeliveryLedger, _ intake: DeliveryIntake, asked: AskedDeliveries, at moment: Moment) {
        for key in intake.recentKeys(at: moment) {
            all.insert(key)
            firsts.insert(key)
        }
        ledger.forEach { job in
            guard let key = job.redeliveryKey else { return }
            all.insert(key)
            if asked.isCopy(job) {
                askedCopies.insert(key)
            } else if !job.comesBackUnchanged {
                // A job that comes back unchanged has published a copy with the same key. That copy may be all that is
                // left of the job, so it must not pass for a second copy.
                firsts.insert(key)
            }
        }
        for (delivery, _) in intake.lentDeliveries { all.insert(delivery.key) }
    }
}
