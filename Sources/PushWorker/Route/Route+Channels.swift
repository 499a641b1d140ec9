internal import APNSClient
internal import DequeModule
internal import EventLoop
internal import PushModel

// Jobs about channels. They share the route's deliveries, results and acknowledgements, and nothing of its way to APNs.
extension Route {
    /// The host that an operation goes to; nil where the configuration names none.
    private func channelHost(for operation: ChannelOperation) -> ChannelHost? {
        let kind: ChannelHost.Kind = operation.isManagement ? .management : .broadcast
        return channelHosts.first { $0.kind == kind }
    }

    /// Queues a job that has not been handed out yet.
    func takeChannelJob(_ job: JobInFlight, wallClock: Int64) {
        guard let host = channelHost(for: job.job.operation) else {
            let kind: ChannelHost.Kind = job.job.operation.isManagement ? .management : .broadcast
            let environment = (job.job.environment ?? .production).rawValue
            let detail = "the worker knows no host for this: set \(kind.setting).\(environment) in its configuration"
            report(
                Notification(job: job, index: job.nextIndex() ?? 0),
                FinalReport(.rejected, .fixRequest, reason: .notConfigured, detail: detail), wallClock: wallClock)
            return
        }
        hasChannelWork = true
        host.waiting.append(job)
    }

    /// Goes on with a job whose channel of the broker was gone.
    func resumeChannelJob(_ job: JobInFlight, wallClock: Int64) {
        if let host = channelHost(for: job.job.operation) {
            hasChannelWork = true
            host.resends.append(contentsOf: job.takePostponed())
        }
        if job.hasMore { takeChannelJob(job, wallClock: wallClock) }
    }

    /// Whether no job about channels is on its way.
    var areChannelsQuiet: Bool { !hasChannelWork || channelHosts.allSatisfy(\.isQuiet) }

    /// Whether nothing about channels is under way; the next probe of a host that refused the credential is not.
    var areChannelsStill: Bool {
        !hasChannelWork
            || channelHosts.allSatisfy { $0.requests.count == 0 && (!$0.hasWaiting || $0.breaker.intake == .none) }
    }

    /// When time alone gives a host something to do, in nanoseconds.
    var nextChannelDue: UInt64? {
        // What sleeps is looked at by nobody, and its time would stay in the past.
        guard hasChannelWork else { return nil }
        return channelHosts.lazy.filter { !$0.isAsleep }.compactMap(\.nextDue).min()
    }

    /// Takes out the jobs that were not sent yet: another worker may do them.
    func takeUnsentChannelJobs() -> [JobInFlight] {
        var unsent: [JobInFlight] = []
        for host in channelHosts {
            unsent += host.resends.filter { $0.isUntouched && isCurrent($0.job) }.map(\.job)
            host.resends.removeAll { $0.isUntouched && isCurrent($0.job) }
            unsent += host.waiting
            host.waiting.removeAll()
        }
        return unsent
    }

    /// The broker's channel is gone: what was not sent comes again.
    func channelGenerationEnded() {
        for host in channelHosts {
            host.waiting.removeAll()
            for resend in host.resends { resend.job.postpone(resend) }
            host.resends.removeAll()
        }
    }

    // MARK: Sending

    /// Sends what a host's connection takes, as far as its breaker allows.
    func sendToChannels(_ host: ChannelHost, now: MonotonicTime, wallClock: Int64) {
        let limit: Int
        switch host.breaker.intake {
        case .none: return answerParked(host, now: now, wallClock: wallClock)
        case .one: limit = host.requests.count == 0 ? 1 : 0
        case .full: limit = .max
        }
        guard let pool = host.pool, host.hasWaiting else { return }
        var room = min(limit, pool.capacity, allowedByRate(now: now.nanoseconds))
        while room > 0, let notification = host.next() {
            let inFlight = notification.job
            guard !inFlight.job.isExpired(at: wallClock) else {
                settleChannel(notification, .expired, on: host, wallClock: wallClock, now: now)
                continue
            }
            let tag = host.requests.insert(notification)
            guard pool.submit(inFlight.job, index: notification.index, tag: tag, now: now) else {
                _ = host.requests.remove(tag)
                host.resends.prepend(notification)
                return
            }
            counters.requests += 1
            rate?.take()
            room -= 1
        }
    }

    /// Answers jobs with what the last one heard about the credential, instead of asking APNs again: most wait in a tier.
    /// The first that no tier can take waits here, as the next probe; more of those would keep the broker from
    /// delivering anything else of the route.
    private func answerParked(_ host: ChannelHost, now: MonotonicTime, wallClock: Int64) {
        guard let refusal = host.refusal else { return }
        var probe: Notification?
        while let notification = host.next() {
            let job = notification.job.job
            let facts = AttemptFacts(job, probeDelay: Int64(host.breaker.probeDelay / 1_000_000))
            if job.isExpired(at: wallClock) {
                settleChannel(notification, .expired, on: host, wallClock: wallClock, now: now)
                continue
            }
            let heldBack = Attempted.heldBack(refusal.answer)
            let settlement = surroundings.policy.settle(heldBack, job: facts, now: wallClock)
            let hasTier = if case .park = settlement { true } else { false }
            guard hasTier || probe != nil else {
                probe = notification
                continue
            }
            settleChannel(notification, heldBack, on: host, wallClock: wallClock, now: now)
        }
        if let probe { host.resends.append(probe) }
    }

    /// Tells all jobs that wait for a host that it cannot be reached.
    func giveUpChannels(_ host: ChannelHost, now: MonotonicTime, wallClock: Int64) {
        let why = host.trouble ?? "no connection to \(host.connector.endpoint) is usable"
        while let notification = host.next() {
            settleChannel(notification, .unreachable(why), on: host, wallClock: wallClock, now: now)
        }
    }

    // MARK: Answers

    /// APNs answered a request about channels, or provably or possibly did not.
    func channelAnswered(
        tag: Int, _ answer: PushAnswer, on host: ChannelHost, now: MonotonicTime, wallClock: Int64
    ) {
        guard let notification = host.requests.remove(tag) else { return }
        switch answer {
        case .response(let response):
            host.trouble = nil
            host.machine.answered()
            counters.requestDuration.record(microseconds: Int(response.microseconds))
            settleChannel(
                notification, .response(response.answer), on: host, response, wallClock: wallClock, now: now)
        case .unprocessed: settleChannel(notification, .unprocessed, on: host, wallClock: wallClock, now: now)
        case .unanswered(let cause):
            settleChannel(
                notification, .unanswered(cause.description), on: host, wallClock: wallClock, now: now)
        }
    }

    /// Lets the policy decide about one request and carries the decision out.
    private func settleChannel(
        _ notification: Notification, _ attempted: Attempted, on host: ChannelHost, _ response: APNSResponse? = nil,
        wallClock: Int64, now: MonotonicTime
    ) {
        let facts = AttemptFacts(
            notification.job.job, resends: notification.resends, refusals: notification.refusals,
            probeDelay: Int64(host.breaker.probeDelay / 1_000_000))
        let settlement = surroundings.policy.settle(attempted, job: facts, now: wallClock)
        learnCredential(from: response, settlement, host, now: now)
        switch settlement {
        case .report(var final):
            if response?.channel?.isIncomplete == true {
                final.addDetail("APNs listed more than the result holds, or something that is no identifier")
            }
            report(
                notification, final, wallClock: wallClock,
                apnsMilliseconds: response.map { $0.microseconds / 1_000 }, uniqueID: response?.apnsUniqueID,
                channel: response?.channel)
        case .resend: resendToChannels(notification, counted: false, host)
        case .resendOnNewConnection: resendToChannels(notification, counted: true, host)
        case .retry(let tier, let attempt):
            counters.retries[tier] += 1
            goOn(with: notification, as: .retry(tier: tier, attempt: attempt), wallClock: wallClock)
        case .park(let tier):
            counters.retries[tier] += 1
            goOn(
                with: notification, as: .retry(tier: tier, attempt: notification.job.job.attempt),
                wallClock: wallClock)
        }
    }

    /// Learns from an answer whether the credential is accepted here; the route's own breaker hears nothing of it.
    private func learnCredential(
        from response: APNSResponse?, _ settlement: Settlement, _ host: ChannelHost, now: MonotonicTime
    ) {
        guard let response else { return }
        let meaning = response.answer.meaning
        // A refusal that is final for this job, for want of time, is one of the credential all the same.
        let isParked = if case .park = settlement { true } else { meaning.parksRoute }
        if isParked {
            host.refusal = response
            host.breaker.credentialRefused(now: now.nanoseconds)
        } else if !meaning.credential.turnsAway {
            host.breaker.credentialAccepted()
        }
    }

    private func resendToChannels(_ notification: Notification, counted: Bool, _ host: ChannelHost) {
        var again = notification
        if counted { again.resends += 1 } else { again.refusals += 1 }
        guard isCurrent(notification.job) else {
            notification.job.postpone(again)
            return
        }
        counters.resends += 1
        notification.job.resends(notification.index)
        host.resends.append(again)
    }
}
