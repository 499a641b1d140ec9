internal import APNSClient
internal import DequeModule
internal import EventLoop
internal import PushModel
internal import RabbitMQ

/// One route on one lane: its deliveries, its connections to APNs, its credit and its breaker.
///
/// Everything that can go wrong with one app ends here: a missing queue, a refused credential or a dead APNs parks this
/// route and no other. The lane drives it; it never touches a socket itself.
final class Route {
    /// What a route needs from its lane.
    struct Surroundings {
        /// Decides what each answer leads to.
        let policy: RetryPolicy
        /// Publishes results, replies, retry copies and dead letters.
        let publisher: Publisher
        /// Which `reply_to` are allowed.
        let replyPattern: ReplyPattern
        /// Where accepted notifications are noted; nil without a journal.
        var journal: JournalWriter?
        /// What an earlier process noted; nil without a journal.
        var earlier: Journal?
    }

    /// One method that settles deliveries of the current channel generation.
    enum OwedAcknowledgement {
        case acknowledge(AcknowledgementTracker.Acknowledgement)
        /// Let the broker dead-letter it.
        case reject(UInt64)
        /// Give it back for another worker.
        case requeue(UInt64)
    }

    /// The configured name; `unrouted` for the route that answers jobs nobody claims.
    let name: String
    /// Its position on the lane.
    let position: Int
    /// The queues it consumes, the high one last.
    let queues: [String]
    /// The number of its channel on the lane's consume connection.
    var channel: UInt16 { UInt16(position + 1) }
    /// What it needs from its lane.
    let surroundings: Surroundings
    /// Which (environment, topic) pairs may arrive here; nil for the route that answers `NoRoute`.
    let claim: RouteClaim?
    /// The connections to APNs; nil for the route that answers `NoRoute`.
    var pool: APNSPool?
    /// Passes the pool's events on; the pool does not keep it alive.
    var poolEvents: PoolEvents?
    /// What is known about its credential; nil for the route that answers `NoRoute`.
    var credential: RouteCredential?
    /// Why the last connect to APNs failed; nil after a success.
    var connectTrouble: String?

    /// The hosts that jobs about channels go to, as far as the configuration names them.
    let channelHosts: [ChannelHost]
    /// Whether one of them has work or a connection; false for nearly every route at all times.
    var hasChannelWork = false

    /// Decides the methods on the consume channel.
    var consumer: RouteConsumer
    /// Decides whether the route may work.
    var breaker = RouteBreaker()
    /// Decides the prefetch.
    var credit: RouteCredit
    /// Decides the acknowledgements of the current channel generation.
    var acknowledgements = AcknowledgementTracker()
    /// Holds the route to its configured rate.
    var rate: RateLimit?
    /// When the rate allows the next request, while it holds the route back.
    var rateDue: UInt64?
    /// Jobs of the current generation with notifications that were not handed out yet, oldest first.
    var waiting = Deque<JobInFlight>()
    /// Jobs that are refused, whose results wait for room.
    var refused = Deque<JobInFlight>()
    /// Notifications to send again at once, ahead of everything else.
    var resends = Deque<Notification>()
    /// Requests whose answer is awaited, by the tag they were submitted with.
    var requests = SlotTable<Notification>()
    /// Deliveries of the current generation that are not settled yet.
    var open = SlotTable<JobInFlight>()
    /// Recognises what an ended generation delivered, when it comes again.
    var memory = RedeliveryMemory<RedeliveryKey, JobInFlight>()
    /// Since when nothing is sent or waits to be, while suspects are held; nil while something does.
    var idleSince: UInt64?
    /// For how long that must last until jobs that wait for their confirms alone keep no suspect waiting.
    static let survival: UInt64 = 10_000_000_000
    /// Holds what may have ended the process before, to be taken up alone.
    var poison = PoisonWatch<Delivery>()
    /// How often suspects were given back unread, or lost with their channel.
    var unreadReturns: UInt32 = 0
    /// Acknowledgements and the like that wait for room in the consume connection's socket, oldest first.
    var owedAcknowledgements = Deque<OwedAcknowledgement>()
    /// Whether the lane will look at the route at the end of this turn.
    var isMarked = false
    /// Whether the lane looks at the route again once results can go out.
    var isHeldBack = false
    /// Whether the lane's report knows the route as it is.
    var isReported = false
    /// Randomness for waits and generated ids.
    var random = SystemRandomNumberGenerator()
    /// What the route counted so far.
    var counters: RouteCounters
    /// Reads messages as jobs.
    let decoder = JobDecoder()
    /// Device tokens that rest.
    var cooling = CoolingTokens()
    /// Watches the share of dead tokens among final answers.
    var deadTokens = DeadTokenWatch()

    /// Creates a route that consumes nothing yet.
    init(
        name: String, position: Int, queues: [String], claim: RouteClaim?, credit: RouteCredit, rate: Double?,
        surroundings: Surroundings, channelHosts: [ChannelHost] = []
    ) {
        self.name = name
        self.position = position
        self.queues = queues
        self.claim = claim
        self.credit = credit
        self.rate = rate.map { RateLimit(perSecond: $0) }
        self.surroundings = surroundings
        self.channelHosts = channelHosts
        consumer = RouteConsumer(queues: queues.count)
        counters = RouteCounters(tiers: surroundings.policy.tiers.count)
    }

    /// Whether no request is open and nothing waits to be sent.
    var isQuiet: Bool {
        requests.count == 0 && waiting.isEmpty && resends.isEmpty && refused.isEmpty && !poison.hasSuspects
            && areChannelsQuiet
    }

    /// Whether notifications wait to be sent.
    var hasBacklog: Bool { !(waiting.isEmpty && resends.isEmpty) }

    /// Sends as much as streams, window, rate and breaker allow; all of it leaves in one write per connection.
    ///
    /// This is the batching: whatever became ready during a turn goes out together.
    func sendWaiting(now: MonotonicTime, wallClock: Int64) {
        guard let pool, hasBacklog else { return }
        var room = min(pool.capacity, allowance(now: now.nanoseconds))
        // What is settled without a request needs no room there, but its results need some.
        while room > 0, !surroundings.publisher.isCongested, let notification = nextNotification() {
            // The job is read in place, never copied: it is 400 bytes with several references.
            let inFlight = notification.job
            if let defect = inFlight.job.tokenDefect(notification.index) {
                report(
                    notification, FinalReport(.invalid, .fixRequest, reason: defect.reason, detail: defect.detail),
                    wallClock: wallClock)
                continue
            }
            if inFlight.job.redelivered, isJournalled(notification, wallClock: wallClock) { continue }
            guard !inFlight.job.isExpired(at: wallClock) else {
                settle(notification, .expired, wallClock: wallClock, now: now)
                continue
            }
            if !cooling.isEmpty, rests(notification, now: now, wallClock: wallClock) { continue }
            FailPoint.reached(.beforeSend)
            let tag = requests.insert(notification)
            guard pool.submit(inFlight.job, index: notification.index, tag: tag, now: now) else {
                _ = requests.remove(tag)
                resends.prepend(notification)
                return
            }
            counters.requests += 1
            rate?.take()
            room -= 1
        }
    }

    /// How many notifications rate and breaker allow now.
    private func allowance(now: UInt64) -> Int {
        switch breaker.intake {
        case .none: return 0
        case .one: return requests.count == 0 ? 1 : 0
        case .full: return allowedByRate(now: now)
        }
    }

    /// How many requests the rate allows now, whichever host they go to; notes where it allows none when it will.
    func allowedByRate(now: UInt64) -> Int {
        guard let allowed = rate?.available(now: now) else { return .max }
        if allowed == 0 { rateDue = rate?.nextDue(now: now) }
        return allowed
    }

    /// The next notification: resends first, then the oldest job's next index.
    private func nextNotification() -> Notification? {
        if let resend = resends.popFirst() { return resend }
        while let job = waiting.first {
            let index = job.nextIndex()
            // A job that is handed out whole waits no longer, so that a route without work is seen to have none.
            if !job.hasMore { waiting.removeFirst() }
            if let index { return Notification(job: job, index: index) }
        }
        return nil
    }

    /// Whether the route has something to do that only waits for results to find their way out.
    var waitsForPublisher: Bool {
        guard refused.isEmpty else { return true }
        return surroundings.publisher.isCongested && (hasBacklog || poison.hasSuspects || !areChannelsQuiet)
    }

    /// Whether a route that waited for results to go out can go on, now that pushes may.
    var mayGoOn: Bool {
        guard let job = refused.first else { return true }
        return surroundings.publisher.takesRefusals(withReply: job.job.replyTo != nil)
    }

    /// Takes out the jobs whose only notification waits to be sent again and has left no trace: another worker may do it.
    func takeUnsentResends() -> [JobInFlight] {
        let unsent = resends.filter { $0.isUntouched && isCurrent($0.job) }.map(\.job)
        resends.removeAll { $0.isUntouched && isCurrent($0.job) }
        return unsent
    }

    /// Whether a stopped route has stood long enough for other workers to get its unsent jobs. Where a probe is due one of
    /// each queue may stay for it: given back after each probe, it would look like poison.
    var shouldHandBack: Bool {
        guard breaker.mayHandBack else { return false }
        return !breaker.awaitsProbe || waiting.count + resends.count + poison.heldCount > queues.count
    }

    /// Sets the prefetch that breaker, credit and connections want, or none while the lane drains.
    func updateIntake(isDraining: Bool) {
        guard !isDraining else {
            consumer.wantedPrefetch = 0
            return
        }
        switch breaker.intake {
        case .none: consumer.wantedPrefetch = 0
        // What is here already is the next probe: more would wait for its turn, or come back too often to look harmless.
        case .one: consumer.wantedPrefetch = requests.count > 0 || hasBacklog || poison.hasSuspects ? 0 : 1
        // Suspects that came with a whole window are taken up before anything else is delivered.
        case .full where poison.hasSuspects && consumer.currentPrefetch != 1: consumer.wantedPrefetch = 0
        case .full where poison.isNarrow: consumer.wantedPrefetch = 1
        case .full:
            let wanted = credit.wanted(streams: pool?.streamLimit ?? RouteCredit.maximum)
            let current = consumer.currentPrefetch
            if current == 0 || credit.isWorthChanging(from: current, to: wanted) { consumer.wantedPrefetch = wanted }
        }
    }

    /// The channel generation ended: what was not sent is dropped here, for the broker delivers it again, and what was
    /// sent is remembered.
    func generationEnded(now: MonotonicTime) {
        waiting.removeAll(keepingCapacity: true)
        refused.removeAll()
        for resend in resends { resend.job.postpone(resend) }
        resends.removeAll(keepingCapacity: true)
        channelGenerationEnded()
        var unsent: [RedeliveryKey] = []
        var unfinished: [RedeliveryMemory<RedeliveryKey, JobInFlight>.Unfinished] = []
        for job in open.removeAll() {
            job.slot = nil
            guard let key = job.redeliveryKey, !job.isRejected else { continue }
            if job.isStarted {
                unfinished.append(.init(key: key, job: job, bytes: job.job.bytes.count, origin: job.origin))
            } else {
                unsent.append(key)
            }
        }
        memory.generationEnded(unsent: unsent, unfinished: unfinished, now: now.nanoseconds)
        acknowledgements = AcknowledgementTracker()
        if poison.heldCount > 0 { unreadReturns &+= 1 }
        poison = PoisonWatch()
        idleSince = nil
        owedAcknowledgements.removeAll()
    }
}
