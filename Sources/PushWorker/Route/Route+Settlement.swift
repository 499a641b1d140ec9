internal import APNSClient
internal import EventLoop
internal import PushModel

// From an answer, or its absence, to publications. What to do is decided by `RetryPolicy`; here it is carried out.
extension Route {
    /// APNs answered a request, or provably or possibly did not.
    func answered(tag: Int, _ answer: PushAnswer, now: MonotonicTime, wallClock: Int64) {
        guard let notification = requests.remove(tag) else { return }
        switch answer {
        case .response(let response):
            FailPoint.reached(.afterAnswer)
            counters.requestDuration.record(microseconds: Int(response.microseconds))
            let attempted = Attempted.response(response.answer)
            learnHealth(from: response.answer, notification, now: now)
            rest(notification, after: response.answer, now: now)
            settle(
                notification, attempted, wallClock: wallClock, now: now,
                apnsMilliseconds: response.microseconds / 1_000, uniqueID: response.apnsUniqueID)
        case .unprocessed: settle(notification, .unprocessed, wallClock: wallClock, now: now)
        case .unanswered(let cause):
            settle(notification, .unanswered(cause.description), wallClock: wallClock, now: now)
        }
    }

    /// Lets the policy decide about one notification and carries the decision out.
    func settle(
        _ notification: Notification, _ attempted: Attempted, wallClock: Int64, now: MonotonicTime,
        apnsMilliseconds: Int64? = nil, uniqueID: [UInt8]? = nil
    ) {
        let facts = AttemptFacts(
            notification.job.job, resends: notification.resends, refusals: notification.refusals,
            holdsDeadTokens: deadTokens.isSuspicious, probeDelay: Int64(breaker.probeDelay / 1_000_000))
        switch surroundings.policy.settle(attempted, job: facts, now: wallClock) {
        case .report(let report):
            learn(from: attempted, report, now: now)
            var note: UInt64?
            if report.outcome == .accepted, surroundings.journal != nil {
                note = journal(notification, finishedAt: wallClock, apnsMilliseconds: apnsMilliseconds)
            }
            self.report(
                notification, report, wallClock: wallClock, apnsMilliseconds: apnsMilliseconds, uniqueID: uniqueID,
                note: note)
        case .resend: resend(notification, counted: false)
        case .resendOnNewConnection: resend(notification, counted: true)
        case .retry(let tier, let attempt):
            if attempted.provesCredential { credentialProved() }
            counters.retries[tier] += 1
            goOn(with: notification, as: .retry(tier: tier, attempt: attempt), wallClock: wallClock)
        case .park(let tier):
            breaker.credentialRefused(now: now.nanoseconds)
            let attempt = notification.job.job.attempt
            counters.retries[tier] += 1
            goOn(with: notification, as: .retry(tier: tier, attempt: attempt), wallClock: wallClock)
        }
    }

    /// Tells the breaker whether an answer says that APNs cannot serve the route: its own errors, and too many requests
    /// for a device token that was not known to have too many. Those for one that was say nothing either way, but a
    /// probe that ends so has not shown that the trouble is over.
    private func learnHealth(from answer: Answer, _ notification: Notification, now: MonotonicTime) {
        let service = answer.meaning.service
        if service == .deviceThrottled, breaker.state == .working,
            cooling.remaining(key(of: notification), now: now.nanoseconds) != nil
        {
            return
        }
        breaker.answered(isTrouble: service != .working, now: now.nanoseconds, random: &random)
    }

    /// Lets a device token rest where APNs has had too many notifications for it.
    private func rest(_ notification: Notification, after answer: Answer, now: MonotonicTime) {
        let job = notification.job
        guard let milliseconds = surroundings.policy.rest(after: answer, attempt: job.job.attempt) else { return }
        let end = now.adding(nanoseconds: UInt64(milliseconds) * 1_000_000)
        cooling.cool(key(of: notification), until: end.nanoseconds, now: now.nanoseconds)
    }

    /// Whether a notification's device token rests; if so, the notification waits in a tier, its attempt unchanged.
    func rests(_ notification: Notification, now: MonotonicTime, wallClock: Int64) -> Bool {
        let job = notification.job
        guard let remaining = cooling.remaining(key(of: notification), now: now.nanoseconds),
            let tier = surroundings.policy.restingTier(
                remaining: Int64(remaining / 1_000_000), job: AttemptFacts(job.job), now: wallClock)
        else { return false }
        counters.cooled += 1
        counters.retries[tier] += 1
        goOn(with: notification, as: .retry(tier: tier, attempt: job.job.attempt), wallClock: wallClock)
        return true
    }

    /// Sends the rest of multicast jobs that were begun into a tier, so that what is settled of them is acknowledged.
    ///
    /// What no tier can bring back in time stays until its time is over, which is looked at here because nothing is sent.
    ///
    /// - Parameters:
    ///   - delay: After how long the rest should be tried again, in nanoseconds.
    ///   - now: The time.
    ///   - wallClock: Milliseconds since 1970.
    func splitStarted(after delay: UInt64, now: MonotonicTime, wallClock: Int64) {
        /// Settles some notifications of a job; false where they stay.
        func split(_ job: JobInFlight, _ indexes: some Sequence<Int>) -> Bool {
            guard job.isStarted, job.job.isMulticast else { return false }
            let tier = surroundings.policy.restingTier(
                remaining: Int64(delay / 1_000_000), job: AttemptFacts(job.job), now: wallClock)
            guard tier != nil || job.job.isExpired(at: wallClock) else { return false }
            for notification in indexes.map({ Notification(job: job, index: $0) }) {
                guard let tier else {
                    settle(notification, .expired, wallClock: wallClock, now: now)
                    continue
                }
                counters.retries[tier] += 1
                goOn(with: notification, as: .retry(tier: tier, attempt: job.job.attempt), wallClock: wallClock)
            }
            return true
        }
        waiting.removeAll { job in split(job, sequence(state: job) { $0.nextIndex() }) }
        resends.removeAll { resend in split(resend.job, CollectionOfOne(resend.index)) }
    }

    private func key(of notification: Notification) -> Int {
        let job = notification.job
        let bytes = job.job.bytes
        return CoolingTokens.key(bytes.span.extracting(job.job.deviceToken(notification.index)))
    }

    /// Sends again, ahead of everything that waits; a job whose channel is gone waits for the broker to deliver it again.
    private func resend(_ notification: Notification, counted: Bool) {
        var again = notification
        if counted { again.resends += 1 } else { again.refusals += 1 }
        guard isCurrent(notification.job) else {
            notification.job.postpone(again)
            return
        }
        counters.resends += 1
        notification.job.resends(notification.index)
        resends.append(again)
    }

    /// An answer shows that the credential is accepted: what was said against it holds no more.
    private func credentialProved() {
        guard breaker.state != .working else { return }
        breaker.credentialAccepted()
        if breaker.state == .working { credential?.refusal = nil }
    }

    private func learn(from attempted: Attempted, _ report: FinalReport, now: MonotonicTime) {
        guard case .response = attempted else { return }
        // A refusal that is final for this job, for want of time, parks the route like any other.
        if report.action == .fixCredential {
            breaker.credentialRefused(now: now.nanoseconds)
            return
        }
        if attempted.provesCredential { credentialProved() }
        deadTokens.answered(isDeadToken: report.outcome == .deadToken)
    }

    /// Reports a notification as final: a result, and a dead letter where the outcome wants one.
    func report(
        _ notification: Notification, _ report: FinalReport, wallClock: Int64, finishedAt: Int64? = nil,
        apnsMilliseconds: Int64? = nil, uniqueID: [UInt8]? = nil, channel: ChannelAnswer? = nil,
        isSuppressed: Bool = false, note: UInt64? = nil
    ) {
        let verdict = Verdict(
            report: report, apnsUniqueID: uniqueID, channel: channel, finishedAt: finishedAt ?? wallClock,
            apnsMilliseconds: apnsMilliseconds, isSuppressed: isSuppressed)
        counters.outcomes.count(report.outcome, report.reason)
        publishResult(notification, verdict, note: note)
        // A rejected delivery's dead letter is the broker's to write.
        if report.outcome.isDeadLetter, !notification.job.isRejected {
            goOn(with: notification, as: .deadLetter(report), wallClock: wallClock)
        } else {
            notification.job.settled(at: wallClock)
            publishGroupsIfSettled(notification.job)
        }
    }

    /// Publishes the reply first where one is wanted, because the result says when the reply was lost.
    private func publishResult(_ notification: Notification, _ verdict: Verdict, note: UInt64?) {
        var verdict = verdict
        let job = notification.job
        if let address = job.job.replyTo {
            let bytes = job.job.bytes
            if surroundings.replyPattern.allows(bytes.span.extracting(address)) {
                publish(.reply(index: notification.index, verdict), for: job, note: note)
                return
            }
            counters.repliesLost += 1
            verdict.report.addDetail("no reply was sent: the worker's replies.allow does not match reply_to")
        }
        publish(.result(index: notification.index, verdict), for: job, note: note)
    }

    /// Settles a notification whose job goes on as a copy: at once for a single one, gathered for multicast, and
    /// gathered where the job's channel is gone, because the delivery may never come back to this worker.
    func goOn(with notification: Notification, as purpose: JobInFlight.Purpose, wallClock: Int64) {
        let job = notification.job
        job.settled(at: wallClock)
        if job.job.isMulticast || !isCurrent(job) {
            job.gather(purpose, index: notification.index)
            publishGroupsIfSettled(job)
        } else {
            publish(purpose.content(for: nil), for: job)
        }
    }

    /// Publishes one copy per group once every notification of a multicast job is settled.
    func publishGroupsIfSettled(_ job: JobInFlight) {
        // A job whose channel is gone may come again to another worker, whole: copies of it would only duplicate.
        guard job.unsettled == 0, !job.groups.isEmpty, isCurrent(job) else { return }
        for group in job.takeGroups() {
            let isWhole = group.indexes.count >= job.job.tokenCount
            let indexes = isWhole ? nil : group.indexes.sorted()
            publish(group.purpose.content(for: indexes), for: job)
        }
    }

    /// Queues a publication that the job's acknowledgement then waits for.
    ///
    /// - Parameters:
    ///   - content: What it says.
    ///   - job: The job it belongs to.
    ///   - note: The number of the note in the journal that it waits for; nil for none.
    func publish(_ content: Publication.Content, for job: JobInFlight, note: UInt64? = nil) {
        if case .retry(_, let attempt, let indexes) = content, attempt == job.job.attempt {
            // A copy about fewer notifications than the delivery cannot be taken for it.
            let isWhole = indexes.map { $0.count >= job.job.notificationCount } ?? true
            if isWhole { job.comesBackUnchanged = true }
        }
        job.owes()
        surroundings.publisher.enqueue(Publication(job: job, route: self, content: content, note: note))
    }

    /// The broker took a publication, or lost a reply.
    ///
    /// - Returns: The delivery to give back to the broker with `basic.reject`, where it shall write the dead letter.
    func published(
        _ publication: Publication, _ fate: ConfirmTracker<Publication>.Fate, now: MonotonicTime
    ) -> UInt64? {
        let job = publication.job
        if case .reply(let index, var verdict) = publication.content {
            if fate != .confirmed {
                counters.repliesLost += 1
                let loss = fate == .perhapsReturned ? "may be lost" : "was lost"
                verdict.report.addDetail("the reply \(loss): reply_to routes nowhere")
            }
            publish(.result(index: index, verdict), for: job)
        }
        job.confirmed()
        guard job.isFinished else { return nil }
        guard isCurrent(job) else {
            if job.isComplete, let key = job.redeliveryKey {
                memory.finished(key, job, isRemembered: !job.comesBackUnchanged)
            }
            return nil
        }
        guard job.isRejected else {
            finish(job, now: now)
            return nil
        }
        handBack(job, now: now)
        return job.deliveryTag
    }

    /// Everything a delivery asked for is confirmed: it can be acknowledged.
    func finish(_ job: JobInFlight, now: MonotonicTime) {
        FailPoint.reached(.confirmedUnacknowledged)
        counters.jobDuration.record(microseconds: Int(1_000 * (job.settledAt.map { $0 - job.receivedAt } ?? 0)))
        acknowledgements.done(job.deliveryTag, now: now.nanoseconds)
        // A copy that comes back looks the same, and must not be taken for this delivery.
        if !job.comesBackUnchanged, let key = job.redeliveryKey {
            memory.settled(key, as: job.origin, now: now.nanoseconds)
        }
        leave(job)
    }

    /// A delivery goes back to the broker, for another worker or for the dead letters.
    func handBack(_ job: JobInFlight, now: MonotonicTime) {
        acknowledgements.handedBack(job.deliveryTag, now: now.nanoseconds)
        leave(job)
    }

    private func leave(_ job: JobInFlight) {
        guard let slot = job.slot.take() else { return }
        _ = open.remove(slot)
    }

    /// Whether the job's delivery can still be acknowledged: its channel was not opened anew since.
    func isCurrent(_ job: JobInFlight) -> Bool { consumer.isOpen && job.generation == consumer.generation }
}

extension FinalReport {
    /// Adds a sentence to the detail.
    mutating func addDetail(_ sentence: String) {
        detail = detail.map { "\($0); \(sentence)" } ?? sentence
    }
}
