import EventLoop

/// The keys by which the jobs of a lane's present channel generation are recognised.
struct HeldKeys {
    /// The keys of all jobs that are worked on, or were settled lately.
    private(set) var all: Set<RedeliveryKey> = []
    /// The keys of jobs that may be the first of two copies.
    private(set) var firsts: Set<RedeliveryKey> = []
    /// The keys of copies about which the lane itself has asked the others.
    private(set) var askedCopies: Set<RedeliveryKey> = []

    /// The keys of the jobs that the present generation works on, or has settled lately.
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
                // A copy may be all that is left of a job that comes back unchanged.
                firsts.insert(key)
            }
        }
        for (delivery, _) in intake.lentDeliveries { all.insert(delivery.key) }
    }
}
