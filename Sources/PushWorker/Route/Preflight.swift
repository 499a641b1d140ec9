import EventLoop
import PushModel

/// The right to send a notification in this turn: `Preflight` found nothing against it. Nobody keeps it for later.
struct Cleared: ~Copyable {
    let notification: Notification

    fileprivate init(_ notification: Notification) { self.notification = notification }
}

/// Looks at a notification before it is sent: it may be one that must not, or need not, be sent now. Time comes in.
///
/// A class, so that nothing is copied for each push. Confined to its lane.
final class Preflight {
    /// Why a notification is not sent.
    enum Finding {
        /// It is final without a request: its device token has a defect, or an operator cancelled its campaign.
        case over(FinalReport)
        /// An earlier process of this worker pushed it, and noted that in the journal.
        case pushed(JournalRecord)
        /// Its time is over.
        case expired
        /// Its time has not come: it waits in a tier.
        case early(tier: Int)
        /// Its campaign is paused.
        case paused(RetryPolicy.Pause)
        /// APNs has had too many notifications for its device token: it waits in a tier.
        case resting(tier: Int)
    }

    /// What the look led to.
    enum Verdict: ~Copyable {
        /// It may be sent now.
        case cleared(Cleared)
        /// It is not sent.
        case kept(Finding)
    }

    /// How long a notification waits whose campaign looks cancelled while commands are being read.
    static let undecidedWait = Duration.seconds(10)

    private let policy: RetryPolicy
    private let earlier: Journal?
    private let cooling: CoolingTokens

    /// The look of one route.
    ///
    /// - Parameters:
    ///   - policy: Says which tier a notification waits in.
    ///   - earlier: What an earlier process noted; nil without a journal.
    ///   - cooling: The device tokens that rest.
    init(_ policy: RetryPolicy, earlier: Journal?, cooling: CoolingTokens) {
        (self.policy, self.earlier, self.cooling) = (policy, earlier, cooling)
    }

    /// Looks at a notification. A note of an earlier process about it is found only once.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - isPush: Whether it goes to a device.
    ///   - campaigns: The campaigns that are paused or cancelled; nil without any.
    ///   - missing: The positions of holding tiers that the broker lacks.
    ///   - moment: The time.
    func clear(
        _ notification: Notification, isPush: Bool, campaigns: CampaignIndex?,
        missing: @autoclosure () -> Set<Int>, at moment: Moment
    ) -> Verdict {
        let finding = look(
            at: notification, isPush: isPush, campaigns: campaigns, missing: missing(), at: moment)
        return if let finding { .kept(finding) } else { .cleared(Cleared(notification)) }
    }

    /// Why a notification is not sent; nil where it may be.
    private func look(
        at notification: Notification, isPush: Bool, campaigns: CampaignIndex?,
        missing: @autoclosure () -> Set<Int>, at moment: Moment
    ) -> Finding? {
        // The job is read in place, never copied: a job is 400 bytes with several references.
        let inFlight = notification.job
        if isPush, let defect = inFlight.job.tokenDefect(notification.index) {
            return .over(FinalReport(.invalid, .fixRequest, reason: defect.reason, detail: defect.detail))
        }
        if inFlight.job.redelivered, let record = record(of: notification, at: moment) { return .pushed(record) }
        if inFlight.job.isExpired(at: moment.wall) { return .expired }
        if let campaigns, let finding = look(at: notification, in: campaigns, missing: missing(), at: moment) {
            return finding
        }
        // Jobs that arrive early go into a tier at once. A job that waits here is early only if the clock was set back, or
        // if the cancellation of its campaign is over meanwhile.
        if inFlight.job.isEarly(at: moment.wall),
            let tier = holdingTier(of: inFlight, missing: missing(), at: moment)
        {
            return .early(tier: tier)
        }
        guard isPush, !cooling.isEmpty, let tier = restingTier(of: notification, at: moment) else { return nil }
        return .resting(tier: tier)
    }

    /// What the journal of an earlier process says about a notification of a redelivered job.
    private func record(of notification: Notification, at moment: Moment) -> JournalRecord? {
        guard let earlier, let key = notification.journalKey else { return nil }
        return earlier.take(key, now: moment.wall)
    }

    /// Whether the campaign of a notification is paused or cancelled. A notification that was sent already goes on as
    /// usual.
    private func look(
        at notification: Notification, in campaigns: CampaignIndex, missing: @autoclosure () -> Set<Int>,
        at moment: Moment
    ) -> Finding? {
        guard !notification.wasSent, let reference = notification.job.job.reference else { return nil }
        let bytes = notification.job.job.bytes
        switch campaigns.fate(of: bytes.span.extracting(reference), at: moment.wall) {
        case .goesOn: return nil
        case .paused(let until):
            return hold(notification, for: until.map { .milliseconds($0 - moment.wall) }, missing(), at: moment)
        case .undecided: return hold(notification, for: Self.undecidedWait, missing(), at: moment)
        case .cancelled(let leavesDeadLetter, let detail):
            var final = FinalReport(.cancelled, .none, detail: detail)
            final.leavesDeadLetter = leavesDeadLetter
            return .over(final)
        }
    }

    /// Lets a notification of a paused campaign wait in a holding tier: the producer may publish for the campaign all
    /// through the pause.
    private func hold(
        _ notification: Notification, for duration: Duration?, _ missing: Set<Int>, at moment: Moment
    ) -> Finding {
        let pause = pause(notification, for: duration, at: moment)
        guard case .tier(let tier) = pause else { return .paused(pause) }
        return .paused(.tier(policy.holdingTier(like: tier, missing: missing)))
    }

    /// Whether the campaign of a job is cancelled.
    func isCancelled(_ job: JobInFlight, in campaigns: CampaignIndex, at moment: Moment) -> Bool {
        guard let reference = job.job.reference else { return false }
        let bytes = job.job.bytes
        if case .cancelled = campaigns.fate(of: bytes.span.extracting(reference), at: moment.wall) { return true }
        return false
    }

    /// The tier in which a notification waits while its device token rests. Nil where the token does not rest, where
    /// no tier may hold the notification, and where the tier nearest to the rest would bring it back too late.
    private func restingTier(of notification: Notification, at moment: Moment) -> Int? {
        guard let remaining = cooling.remaining(notification.coolingKey, now: moment.monotonic) else { return nil }
        return policy.restingTier(
            remaining: remaining, job: AttemptFacts(notification.job.job), now: moment.wall)
    }

    /// The tier in which a notification waits while an operator pauses its route or its campaign, or its report where
    /// no tier brings it back in time.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - duration: How long the pause lasts; nil where no end is known.
    ///   - moment: The time.
    func pause(_ notification: Notification, for duration: Duration?, at moment: Moment) -> RetryPolicy.Pause {
        policy.pause(for: duration, job: AttemptFacts(notification.job.job), now: moment.wall)
    }

    /// The tier in which a job waits next until its time has come; nil where the worker has no tier for it, or the job
    /// names no such time.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - missing: The positions of holding tiers that the broker lacks.
    ///   - moment: The time.
    func holdingTier(of job: JobInFlight, missing: Set<Int>, at moment: Moment) -> Int? {
        guard let notBefore = job.job.notBefore else { return nil }
        return policy.holdingTier(until: notBefore, now: moment.wall, missing: missing)
    }
}
