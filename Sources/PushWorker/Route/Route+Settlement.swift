import APNSClient
import EventLoop
import PushModel

// From an answer, or its absence, to publications. What to do is decided by `RetryPolicy`; here it is carried out.
extension Route {
    /// APNs answered a request, or provably or possibly did not.
    func answered(_ tag: Int, _ answer: PushAnswer, on destination: Destination, at moment: Moment) {
        let isHeard = if case .response = answer { true } else { false }
        guard let notification = destination.answered(tag, isHeard: isHeard) else { return }
        switch answer {
        case .response(let response):
            FailPoint.reached(.afterAnswer)
            tally.counters.answers.count(status: response.answer.status)
            tally.counters.requestDuration.record(microseconds: Int(response.microseconds))
            if destination.kind == .devices {
                learnHealth(from: response.answer, notification, at: moment)
                rest(notification, after: response.answer, at: moment)
            }
            settle(notification, .response(response.answer), on: destination, response, at: moment)
        case .unprocessed: settle(notification, .unprocessed, on: destination, at: moment)
        case .unanswered(let cause):
            tally.counters.answers.countUnanswered()
            settle(notification, .unanswered(cause), on: destination, at: moment)
        }
    }

    /// Lets the policy decide about one notification and carries the decision out.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - attempted: How the attempt ended.
    ///   - destination: Where it was to go.
    ///   - response: What APNs answered; nil where it did not.
    ///   - moment: The time.
    func settle(
        _ notification: Notification, _ attempted: Attempted, on destination: Destination,
        _ response: APNSResponse? = nil, at moment: Moment
    ) {
        let facts = AttemptFacts(
            notification.job.job, resends: notification.resends, refusals: notification.refusals,
            holdsDeadTokens: response?.answer.meaning.isDeadToken == true
                && deadTokens.isSuspicious(inFlight: devices.inFlight),
            probeDelay: destination.breaker.probeDelay)
        let settlement = surroundings.policy.settle(attempted, job: facts, now: moment.wall)
        if let kind = settlement.repeats(attempted) { tally.counters.repeats.count(kind, attempted.reason) }
        if let answer = response?.answer { credential.learn(from: answer, settlement, on: destination, at: moment) }
        switch settlement {
        case .report(var final):
            if destination.kind == .devices, response != nil, final.action != .fixCredential {
                deadTokens.answered(isDeadToken: final.outcome == .deadToken, inFlight: devices.inFlight)
            }
            let milliseconds = response.map { $0.microseconds / 1_000 }
            var note: UInt64?
            if final.outcome == .accepted, surroundings.journal != nil {
                note = journal(notification, finishedAt: moment.wall, apnsMilliseconds: milliseconds)
            }
            if response?.broadcastChannel?.isIncomplete == true {
                final.addDetail("APNs listed more than the result holds, or something that is not an identifier")
            }
            report(
                notification, final, at: moment, apnsMilliseconds: milliseconds, uniqueID: response?.apnsUniqueID,
                broadcastChannel: response?.broadcastChannel, note: note)
        case .resend: resend(notification, to: destination, counted: false)
        case .resendOnNewConnection: resend(notification, to: destination, counted: true)
        case .retry(let tier, let attempt): waitInTier(notification, tier, attempt: attempt, at: moment)
        // APNs refused the credential, or would have. The job waits for another one no longer than `retry.max_age`.
        case .park(let tier): waitInTier(notification, tier, attempt: notification.job.job.attempt, at: moment)
        }
    }

    /// Notes that APNs accepted a notification.
    ///
    /// - Returns: The number of the note that the result waits for; nil if nothing is noted.
    private func journal(_ notification: Notification, finishedAt: Int64, apnsMilliseconds: Int64?) -> UInt64? {
        guard let journal = surroundings.journal, let key = notification.journalKey else { return nil }
        return journal.append(JournalRecord(key: key, finishedAt: finishedAt, apnsMilliseconds: apnsMilliseconds))
    }

    // MARK: What an answer teaches

    /// Tells the breaker whether an answer says that APNs cannot serve the route.
    ///
    /// While the route works, a 429 for a token that already rests counts neither way. A probe answered 429 does not end
    /// the outage.
    private func learnHealth(from answer: Answer, _ notification: Notification, at moment: Moment) {
        let now = moment.monotonic
        let service = answer.meaning.service
        if service == .deviceThrottled, devices.breaker.state == .working,
            shared.cooling.remaining(notification.coolingKey, now: now) != nil
        {
            return
        }
        devices.breaker.answered(isTrouble: service != .working, now: now, random: &random)
    }

    /// Lets a device token rest where APNs has had too many notifications for it.
    private func rest(_ notification: Notification, after answer: Answer, at moment: Moment) {
        let job = notification.job
        guard let rest = surroundings.policy.rest(after: answer, attempt: job.job.attempt) else { return }
        shared.cooling.cool(notification.coolingKey, until: moment.monotonic + rest, now: moment.monotonic)
    }

    // MARK: What becomes of a notification

    /// Sends again, ahead of everything that waits; a job whose channel is gone waits for the broker to deliver it again.
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
    ///   - wasAttempted: Whether an attempt was made, from which on the age of the job counts.
    ///   - moment: The time.
    func waitInTier(
        _ notification: Notification, _ tier: Int, attempt: Int, wasAttempted: Bool = true, at moment: Moment
    ) {
        goOn(
            with: notification, as: .retry(tier: tier, attempt: attempt, wasAttempted: wasAttempted), at: moment)
    }

    /// Lets a notification that cannot be sent now wait in a tier, its attempt unchanged.
    func postpone(_ notification: Notification, to tier: Int, at moment: Moment) {
        waitInTier(
            notification, tier, attempt: notification.job.job.attempt, wasAttempted: notification.wasSent, at: moment)
    }

    /// Reports a notification as final: a result, and a dead letter where the outcome wants one.
    func report(
        _ notification: Notification, _ report: FinalReport, at moment: Moment, finishedAt: Int64? = nil,
        apnsMilliseconds: Int64? = nil, uniqueID: [UInt8]? = nil, broadcastChannel: BroadcastChannelAnswer? = nil,
        isSuppressed: Bool = false, note: UInt64? = nil
    ) {
        let content = ResultContent(
            report: report, apnsUniqueID: uniqueID, broadcastChannel: broadcastChannel,
            finishedAt: finishedAt ?? moment.wall,
            apnsMilliseconds: apnsMilliseconds, isSuppressed: isSuppressed)
        tally.counters.outcomes.count(report.outcome, report.reason)
        outbox.publish(notification, content, note: note, counting: &tally.counters)
        // A rejected delivery's dead letter is the broker's to write.
        if report.outcome.isDeadLetter, report.leavesDeadLetter, !notification.job.isRejected {
            goOn(with: notification, as: .deadLetter(report), at: moment)
        } else {
            notification.job.settled(at: moment.wall)
            publishGroupsIfSettled(notification.job)
        }
    }

    /// Settles a notification whose job goes on as a copy: at once for a single one, gathered for multicast, and
    /// gathered where the job's channel is gone, because the delivery may never come back to this worker.
    private func goOn(with notification: Notification, as purpose: JobInFlight.Purpose, at moment: Moment) {
        let job = notification.job
        job.settled(at: moment.wall)
        if job.job.isMulticast || !deliveries.holds(job) {
            job.gather(purpose, index: notification.index)
            publishGroupsIfSettled(job)
        } else {
            outbox.publish(purpose.content(for: nil), for: job)
        }
    }

    /// Publishes one copy per group once every notification of a multicast job is settled.
    func publishGroupsIfSettled(_ job: JobInFlight) {
        // A job whose channel is gone may come again to another worker, whole: copies of it would only duplicate.
        guard job.unsettled == 0, !job.groups.isEmpty, deliveries.holds(job) else { return }
        for group in job.takeGroups() {
            outbox.publish(group.content(tokenCount: job.job.tokenCount), for: job)
        }
    }
}
