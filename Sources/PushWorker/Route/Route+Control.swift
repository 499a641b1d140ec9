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
        settlement.campaigns = control.campaigns
        // One lane tells the others, because they share what is trusted.
        if isFirstLane, let trust = control.trust { shared.deadTokens.trust(by: trust) }
        return true
    }

    /// Lets nothing of a halted route stay that cannot go back to its queue, because a part of it was sent: it waits in
    /// a tier. From there it comes back to the queue, where all jobs of the route wait.
    func clearHalted(at moment: Moment) {
        guard control.isHalted else { return }
        for host in hosts.all where host.hasWaiting {
            for notification in host.takeTouched() { settlement.pause(notification, at: moment) }
        }
    }
}
