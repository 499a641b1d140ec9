import EventLoop
import PushModel

// A job whose time has not come waits in the broker. It needs neither a connection to APNs nor a place of the rate.
extension Route {
    /// Sends a whole job into the tier in which it waits next, its attempt unchanged: its notifications in one copy.
    func hold(_ job: JobInFlight, at moment: Moment) {
        guard let tier = holdingTier(of: job, at: moment) else {
            let detail = "the worker has no tier in which the job could wait until its not_before: set retry.tiers"
            while let index = job.nextIndex() {
                report(
                    Notification(job: job, index: index),
                    FinalReport(.rejected, .fixRequest, reason: .notConfigured, detail: detail), at: moment)
            }
            return
        }
        job.isHeld = true
        while let index = job.nextIndex() {
            counters.held += 1
            postpone(Notification(job: job, index: index), to: tier, at: moment)
        }
    }

    /// Sends a notification that waits for a request back into a tier, after the clock was set back.
    ///
    /// - Returns: Whether it went there.
    func holdAgain(_ notification: Notification, at moment: Moment) -> Bool {
        guard let tier = holdingTier(of: notification.job, at: moment) else { return false }
        counters.held += 1
        postpone(notification, to: tier, at: moment)
        return true
    }

    private func holdingTier(of job: JobInFlight, at moment: Moment) -> Int? {
        guard let notBefore = job.job.notBefore else { return nil }
        return surroundings.policy.holdingTier(
            until: notBefore, now: moment.wall, missing: outbox.missingTiers)
    }
}
