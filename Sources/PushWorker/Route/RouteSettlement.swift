import APNSClient
import EventLoop
import PushModel

/// How the notifications of a route are settled: from an answer, a missing answer or a reason to send no request, to
/// the messages that follow. A job ends here, too, once the broker has all of its messages.
///
/// `RetryPolicy` decides what an attempt leads to. `Preflight` decides what need not be sent. This class carries their
/// decisions out.
///
/// A class, because the parts of the route share it. Confined to its lane. Time comes in.
final class RouteSettlement {
    /// The most notifications that one turn settles without a request, such as those of a cancelled campaign: about a
    /// millisecond's worth. `Publisher.congestion` does not bound them, because batches of their results count for
    /// little against it.
    static let mostSettledUnsent = 256

    private let policy: RetryPolicy
    private let journal: JournalWriter?
    private let preflight: Preflight
    private let cooling: CoolingTokens
    private let hosts: RouteHosts
    private let credential: CredentialUse
    private let outbox: Outbox
    private let deliveries: RouteDeliveries
    private let tally: RouteTally
    /// Makes spans; nil where no collector is configured.
    private var tracer: RouteTracer?
    /// Counts final answers for the watch over the share of dead tokens.
    private var deadTokens: DeadTokenTally
    private var random: Randomness
    /// The campaigns that are paused or cancelled.
    var campaigns = CampaignIndex()

    /// A settlement without campaigns.
    ///
    /// - Parameters:
    ///   - surroundings: The policy, and the journal of what is accepted.
    ///   - route: The route's name.
    ///   - cooling: The device tokens that rest.
    ///   - deadTokens: Watches how many device tokens are dead.
    ///   - hosts: The route's hosts.
    ///   - credential: Learns from answers.
    ///   - outbox: Publishes what follows.
    ///   - deliveries: The deliveries that end.
    ///   - tally: Counts.
    init(
        _ surroundings: RouteSurroundings, route: String, cooling: CoolingTokens, deadTokens: SharedDeadTokens,
        hosts: RouteHosts, credential: CredentialUse, outbox: Outbox, deliveries: RouteDeliveries, tally: RouteTally
    ) {
        (policy, random) = (surroundings.policy, surroundings.random)
        journal = surroundings.journal
        preflight = Preflight(surroundings.policy, earlier: surroundings.earlier, cooling: cooling)
        self.cooling = cooling
        self.deadTokens = DeadTokenTally(deadTokens)
        tracer = surroundings.spans.map { RouteTracer($0, route: route, seed: surroundings.random.next()) }
        (self.hosts, self.credential, self.outbox) = (hosts, credential, outbox)
        (self.deliveries, self.tally) = (deliveries, tally)
    }

    // MARK: Answers

    /// A request is over: APNs answered it, provably did not process it, or may have processed it.
    ///
    /// - Parameters:
    ///   - tag: The tag that the request was submitted with.
    ///   - answer: How the request ended.
    ///   - destination: Where it went.
    ///   - moment: The time.
    func answered(_ tag: Int, _ answer: PushAnswer, on destination: Destination, at moment: Moment) {
        let isHeard = if case .response = answer { true } else { false }
        guard let notification = destination.answered(tag, isHeard: isHeard) else { return }
        switch answer {
        case .response(let response):
            FailPoint.reached(.afterAnswer)
            destination.heard(response.answer, now: moment.monotonic)
            tally.counters.answers.count(status: response.answer.status)
            tally.counters.requestDuration.record(microseconds: Int(response.microseconds))
            tracer?.requested(
                notification, .response(response.answer), microseconds: response.microseconds, at: moment)
            if destination.kind == .devices {
                learnHealth(of: destination, from: response.answer, notification, at: moment)
                rest(notification, after: response.answer, at: moment)
            }
            settle(notification, .response(response.answer), on: destination, response, at: moment)
        case .unprocessed: settle(notification, .unprocessed, on: destination, at: moment)
        case .unanswered(let cause, let microseconds):
            tally.counters.answers.countUnanswered()
            tracer?.requested(notification, .unanswered(cause), microseconds: microseconds, at: moment)
            settle(notification, .unanswered(cause), on: destination, at: moment)
        }
    }

    /// Lets the policy decide about one notification and carries the decision out.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - attempted: How the attempt ended.
    ///   - destination: Where it was to go.
    ///   - response: The answer of APNs; nil without an answer.
    ///   - moment: The time.
    func settle(
        _ notification: Notification, _ attempted: Attempted, on destination: Destination,
        _ response: APNSResponse? = nil, at moment: Moment
    ) {
        let facts = AttemptFacts(
            notification.job.job, resends: notification.resends, refusals: notification.refusals,
            isAlone: destination.breaker.intake != .full,
            holdsDeadTokens: response?.answer.meaning.isDeadToken == true
                && deadTokens.isSuspicious(inFlight: hosts.devices.inFlight),
            probeDelay: destination.breaker.probeDelay)
        let settlement = policy.settle(attempted, job: facts, now: moment.wall)
        if let kind = settlement.repeats(attempted) { tally.counters.repeats.count(kind, attempted.reason) }
        if let answer = response?.answer { credential.learn(from: answer, settlement, on: destination, at: moment) }
        switch settlement {
        case .report(var final):
            // Other answers say nothing about the device token.
            if destination.kind == .devices, final.outcome == .accepted || final.outcome == .deadToken {
                deadTokens.answered(isDeadToken: final.outcome == .deadToken, inFlight: destination.inFlight)
            }
            let milliseconds = response.map { $0.microseconds / 1_000 }
            var note: UInt64?
            if final.outcome == .accepted, journal != nil {
                note = self.note(notification, finishedAt: moment.wall, apnsMilliseconds: milliseconds)
            }
            if response?.broadcastChannel?.isIncomplete == true {
                final.addDetail("APNs listed more than the result holds, or something that is not an identifier")
            }
            report(
                notification, final, at: moment, apnsMilliseconds: milliseconds, uniqueID: response?.apnsUniqueID,
                broadcastChannel: response?.broadcastChannel, note: note)
        case .resend: resend(notification, to: destination, counted: false)
        case .resendOnNewConnection: resend(notification, to: destination, counted: true)
        case .retry(let tier, let attempt):
            tracer?.ended(notification, .retried(attempt: attempt, attempted), at: moment)
            waitInTier(notification, tier, attempt: attempt, at: moment)
        // APNs refused the credential, or would have refused it. The job waits for another credential, but no longer
        // than `retry.max_age`.
        case .park(let tier):
            if response != nil { tracer?.ended(notification, .waits(attempted), at: moment) }
            waitInTier(notification, tier, attempt: notification.job.job.attempt, at: moment)
        }
    }

    /// Notes that APNs accepted a notification.
    ///
    /// - Returns: The number of the note that the result waits for; nil if nothing is noted.
    private func note(_ notification: Notification, finishedAt: Int64, apnsMilliseconds: Int64?) -> UInt64? {
        guard let journal, let key = notification.journalKey else { return nil }
        return journal.append(JournalRecord(key: key, finishedAt: finishedAt, apnsMilliseconds: apnsMilliseconds))
    }

    /// Tells the breaker whether an answer says that APNs cannot serve the route.
    ///
    /// While the route works, a 429 for a token that already rests counts neither way. A probe that is answered with
    /// 429 does not end the outage.
    private func learnHealth(
        of devices: Destination, from answer: Answer, _ notification: Notification, at moment: Moment
    ) {
        let now = moment.monotonic
        let service = answer.meaning.service
        if service == .deviceThrottled, devices.breaker.state == .working,
            cooling.remaining(notification.coolingKey, now: now) != nil
        {
            return
        }
        devices.breaker.answered(isTrouble: service != .working, now: now, random: &random)
    }

    /// Lets a device token rest where APNs has had too many notifications for it.
    private func rest(_ notification: Notification, after answer: Answer, at moment: Moment) {
        guard let rest = policy.rest(after: answer, attempt: notification.job.job.attempt) else { return }
        cooling.cool(notification.coolingKey, until: moment.monotonic + rest, now: moment.monotonic)
    }

    // MARK: Without a request

    /// Clears a notification for sending, or settles it: it must not be sent, or need not.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - destination: Where it was to go.
    ///   - moment: The time.
    /// - Returns: Nil where it is settled.
    func clear(_ notification: Notification, on destination: Destination, at moment: Moment) -> Cleared? {
        let verdict = preflight.clear(
            notification, isPush: destination.kind == .devices, campaigns: campaigns.isEmpty ? nil : campaigns,
            missing: outbox.missingTiers, at: moment)
        switch consume verdict {
        case .cleared(let cleared): return cleared
        case .kept(let finding):
            keep(notification, finding, on: destination, at: moment)
            return nil
        }
    }

    /// Settles a notification that is not sent.
    private func keep(
        _ notification: Notification, _ finding: Preflight.Finding, on destination: Destination, at moment: Moment
    ) {
        switch finding {
        case .over(let final): report(notification, final, at: moment)
        case .pushed(let record):
            // Its result is published once more, as the same message, because the broker may not have taken the first.
            tally.counters.duplicatesSuppressed += 1
            report(
                notification, FinalReport(.accepted, .none, status: 200), at: moment,
                finishedAt: record.finishedAt, apnsMilliseconds: record.apnsMilliseconds, isSuppressed: true)
        case .expired: settle(notification, .expired, on: destination, at: moment)
        case .early(let tier):
            tally.counters.held += 1
            postpone(notification, to: tier, at: moment)
        case .paused(let pause):
            tally.counters.paused += 1
            wait(notification, pause, at: moment)
        case .resting(let tier):
            tally.counters.cooled += 1
            postpone(notification, to: tier, at: moment)
        }
    }

    /// Lets a notification of a paused route wait in a tier until the route goes on. That is a retry tier, because such
    /// notifications are few: the rest of jobs that were under way when the pause began.
    func pause(_ notification: Notification, at moment: Moment) {
        wait(notification, preflight.pause(notification, for: .zero, at: moment), at: moment)
    }

    private func wait(_ notification: Notification, _ pause: RetryPolicy.Pause, at moment: Moment) {
        switch pause {
        case .tier(let tier): postpone(notification, to: tier, at: moment)
        case .over(let final): report(notification, final, at: moment)
        }
    }

    /// Whether a job's campaign is cancelled. Such a job does not wait for its time, because the cancellation may be over
    /// by then.
    func isCancelled(_ job: JobInFlight, at moment: Moment) -> Bool {
        !campaigns.isEmpty && preflight.isCancelled(job, in: campaigns, at: moment)
    }

    /// Sends a whole job whose time has not come into the tier in which it waits next.
    ///
    /// All its notifications go in one copy, and its attempt stays the same. The job needs neither a connection to APNs
    /// nor a request of the rate.
    func hold(_ job: JobInFlight, at moment: Moment) {
        guard let tier = preflight.holdingTier(of: job, missing: outbox.missingTiers, at: moment) else {
            let detail = "the worker has no tier in which the job could wait until its not_before: set retry.tiers"
            while let notification = job.next() {
                report(
                    notification, FinalReport(.rejected, .fixRequest, reason: .notConfigured, detail: detail),
                    at: moment)
            }
            return
        }
        job.isHeld = true
        while let notification = job.next() {
            tally.counters.held += 1
            postpone(notification, to: tier, at: moment)
        }
    }

    /// Reports jobs that are refused, while the outbox has room for their results.
    func reportRefused(at moment: Moment) {
        while let notification = outbox.nextRefused() {
            guard let refusal = notification.job.refusal else { continue }
            report(notification, refusal, at: moment)
        }
    }

    // MARK: What becomes of a notification

    /// Sends a notification again, ahead of those of its class that wait. If the job's channel is gone, the
    /// notification waits until the broker delivers the job again.
    private func resend(_ notification: Notification, to destination: Destination, counted: Bool) {
        var again = notification
        if counted { again.resends += 1 } else { again.refusals += 1 }
        guard deliveries.holds(notification.job) else {
            notification.job.postpone(again)
            return
        }
        tally.counters.resends += 1
        notification.job.resends(notification.index)
        destination.resend(again)
    }

    /// Lets a notification go on as a copy of its job that comes back after a tier's delay.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - tier: The tier's position.
    ///   - attempt: The number of the attempt that the copy is for.
    ///   - wasAttempted: Whether an attempt was made. The age of the job counts from the first attempt.
    ///   - moment: The time.
    func waitInTier(
        _ notification: Notification, _ tier: Int, attempt: Int, wasAttempted: Bool = true, at moment: Moment
    ) {
        guard settles(notification, at: moment) else { return }
        goOn(with: notification, as: .retry(tier: tier, attempt: attempt, wasAttempted: wasAttempted))
    }

    /// Lets a notification that cannot be sent now wait in a tier, its attempt unchanged.
    func postpone(_ notification: Notification, to tier: Int, at moment: Moment) {
        if notification.wasSent { tracer?.ended(notification, .waits(nil), at: moment) }
        waitInTier(
            notification, tier, attempt: notification.job.job.attempt, wasAttempted: notification.wasSent, at: moment)
    }

    /// Reports a notification as final: a result, and a dead letter where the outcome wants one.
    func report(
        _ notification: Notification, _ report: FinalReport, at moment: Moment, finishedAt: Int64? = nil,
        apnsMilliseconds: Int64? = nil, uniqueID: [UInt8]? = nil, broadcastChannel: BroadcastChannelAnswer? = nil,
        isSuppressed: Bool = false, note: UInt64? = nil
    ) {
        guard settles(notification, at: moment) else { return }
        let content = ResultContent(
            report: report, apnsUniqueID: uniqueID, broadcastChannel: broadcastChannel,
            finishedAt: finishedAt ?? moment.wall,
            apnsMilliseconds: apnsMilliseconds, isSuppressed: isSuppressed)
        tally.counters.outcomes.count(report.outcome, report.reason)
        tracer?.ended(notification, .reported(report), at: moment)
        outbox.publish(notification, content, note: note)
        // The broker writes the dead letter of a rejected delivery.
        if report.outcome.isDeadLetter, report.leavesDeadLetter, !notification.job.isRejected {
            goOn(with: notification, as: .deadLetter(report))
        } else {
            publishGroupsIfSettled(notification.job)
        }
    }

    /// Notes that a notification has its settlement. The only caller of `JobInFlight.settle`.
    ///
    /// - Returns: False where it had one, which is a defect of the worker: nothing may follow then.
    private func settles(_ notification: Notification, at moment: Moment) -> Bool {
        guard !notification.job.settle(notification, at: moment.wall) else { return true }
        assertionFailure("notification \(notification.index) of a job is settled twice")
        tally.counters.settledTwice += 1
        return false
    }

    /// Lets a job go on as a copy, for a notification that has its settlement.
    ///
    /// The copy of a job with one notification is published at once. Copies of a multicast job are gathered. Copies are
    /// also gathered where the job's channel is gone, because the delivery may never come back to this worker.
    private func goOn(with notification: Notification, as purpose: JobInFlight.Purpose) {
        let job = notification.job
        if job.job.isMulticast || !deliveries.holds(job) {
            job.gather(purpose, index: notification.index)
            publishGroupsIfSettled(job)
        } else {
            outbox.publish(purpose.content(for: nil), for: job)
        }
    }

    /// Publishes one copy per group once every notification of a multicast job is settled.
    private func publishGroupsIfSettled(_ job: JobInFlight) {
        // The broker may deliver a job whose channel is gone to another worker, whole. Copies of the job would then be
        // duplicates.
        guard job.unsettled == 0, !job.groups.isEmpty, deliveries.holds(job) else { return }
        for group in job.takeGroups() {
            outbox.publish(group.content(tokenCount: job.job.tokenCount), for: job)
        }
    }

    // MARK: What becomes of a job

    /// The broker took a publication, or lost a reply.
    func published(_ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment) {
        outbox.ended(publication, fate, at: moment) { finish($0, at: moment) }
    }

    /// A job has a delivery again. The copies that waited for the delivery are published. If nothing else is left to
    /// do, the delivery is settled.
    func resumed(_ job: JobInFlight, at moment: Moment) {
        publishGroupsIfSettled(job)
        if job.isFinished { finish(job, at: moment) }
    }

    /// Everything a job asked for is confirmed. Its delivery is acknowledged, or rejected if the broker writes the dead
    /// letter.
    private func finish(_ job: JobInFlight, at moment: Moment) {
        guard deliveries.finish(job, at: moment) else { return }
        let milliseconds = job.settledAt.map { $0 - job.receivedAt } ?? 0
        tally.counters.jobDuration.record(microseconds: Int(1_000 * milliseconds))
    }
}
