import PushModel

// What a route that takes `high` jobs first does for them: credit of their own, and a place in the rate of all lanes.
extension Route {
    /// Learns the shape of a message that arrived.
    func learn(_ jobClass: JobClass, notifications: Int, bytes: Int) {
        guard jobClass == .high, highCredit != nil else {
            return credit.arrived(notifications: notifications, bytes: bytes)
        }
        highCredit?.arrived(notifications: notifications, bytes: bytes)
    }

    /// The prefetch wanted for the queue of `high` jobs; nil without such a queue.
    ///
    /// - Parameters:
    ///   - former: What was wanted before.
    ///   - streams: How many streams the route's connections have.
    func highPrefetch(instead former: Int?, streams: Int) -> Int? {
        guard let highCredit else { return nil }
        let wanted = highCredit.wanted(streams: streams, share: memory.share)
        let current = consumer.currentHighPrefetch
        guard let former, current > 0, highBytes <= memory.share,
            !highCredit.isWorthChanging(from: current, to: wanted)
        else { return wanted }
        return former
    }

    /// The bytes that the messages of the queue of `high` jobs may take.
    var highBytes: Int { highCredit?.bytes(of: consumer.currentHighPrefetch) ?? 0 }

    /// Lets normal jobs of other lanes leave a request of the rate to the `high` jobs that wait for it here.
    func noteUrgency() {
        let isUrgent = rateDue != nil && devices.hasHighWaiting
        guard isUrgent != saidUrgent else { return }
        rate?.note(isUrgent: isUrgent)
        saidUrgent = isUrgent
    }
}
