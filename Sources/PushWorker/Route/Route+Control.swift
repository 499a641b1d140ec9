import EventLoop
import PushModel

// What operators want: a route that is paused, and campaigns that wait or are over.
extension Route {
    /// Does what operators want from now on.
    ///
    /// The route that answers jobs nobody claims pushes nothing, so nobody can hold it.
    ///
    /// - Returns: Whether that is news.
    @discardableResult
    func follow(_ control: RouteControl) -> Bool {
        guard claim != nil, control != self.control else { return false }
        self.control = control
        // One lane tells the others, because they share what is trusted.
        if isFirstLane, let trust = control.trust { shared.deadTokens.trust(by: trust) }
        return true
    }

    /// Lets nothing of a halted route stay that cannot go back to its queue, because a part of it was sent: it waits in
    /// a tier. From there it comes back to the queue, where all jobs of the route wait.
    func clearHalted(at moment: Moment) {
        guard control.isHalted else { return }
        for host in [devices] + broadcast.all where host.hasWaiting {
            for notification in host.takeTouched() { wait(notification, for: .zero, at: moment) }
        }
    }

    /// Settles a notification whose campaign is paused or cancelled. One that was sent already is settled as usual.
    ///
    /// - Returns: Whether it is settled.
    func isHeldByCampaign(_ notification: Notification, at moment: Moment) -> Bool {
        guard !notification.wasSent, let reference = notification.job.job.reference else { return false }
        let bytes = notification.job.job.bytes
        switch control.campaigns.fate(of: bytes.span.extracting(reference), at: moment.wall) {
        case .goesOn: return false
        case .paused(let until):
            counters.paused += 1
            wait(notification, for: until.map { .milliseconds($0 - moment.wall) }, at: moment)
        case .cancelled(let leavesDeadLetter, let detail):
            var final = FinalReport(.cancelled, .none, detail: detail)
            final.leavesDeadLetter = leavesDeadLetter
            report(notification, final, at: moment)
        }
        return true
    }

    /// Lets a notification wait in a tier until something goes on that an operator paused.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - duration: How long the pause lasts; nil where no end is known.
    ///   - moment: The time.
    private func wait(_ notification: Notification, for duration: Duration?, at moment: Moment) {
        let settlement = surroundings.policy.pause(
            for: duration, job: AttemptFacts(notification.job.job), now: moment.wall)
        switch settlement {
        case .tier(let tier): postpone(notification, to: tier, at: moment)
        case .over(let final): report(notification, final, at: moment)
        }
    }
}
