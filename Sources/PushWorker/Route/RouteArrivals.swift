import EventLoop
import PushModel
import RabbitMQ

/// Takes in the deliveries of a route. A delivery becomes a job that waits for a host, a copy that waits in a tier, or
/// a result that says what is wrong with the job. A suspect is held first.
///
/// The job of a delivery may be known already. `RouteDeliveries` judges that, and this type follows its verdict.
///
/// Confined to its lane. Time comes in.
final class RouteArrivals {
    private let reader: DeliveryReader
    private let claim: RouteClaim?
    private let policy: RetryPolicy
    private let earlier: Journal?
    private let prefetch: RoutePrefetch
    private let deliveries: RouteDeliveries
    private let hosts: RouteHosts
    private let outbox: Outbox
    private let settlement: RouteSettlement
    private let tally: RouteTally
    private var random: Randomness
    /// Whether the job that was taken in last went on to a tier, because its time had not come.
    private(set) var isSendingOn = false

    /// Nothing has arrived yet.
    ///
    /// - Parameters:
    ///   - reader: Reads deliveries as jobs.
    ///   - surroundings: The policy, and what an earlier process noted.
    ///   - prefetch: Learns the shape of what arrives.
    ///   - deliveries: The route's deliveries.
    ///   - hosts: Where jobs wait to be sent.
    ///   - outbox: Has the jobs that are refused.
    ///   - settlement: Settles what is not sent.
    ///   - tally: Counts.
    init(
        _ reader: DeliveryReader, _ surroundings: RouteSurroundings, prefetch: RoutePrefetch,
        deliveries: RouteDeliveries, hosts: RouteHosts, outbox: Outbox, settlement: RouteSettlement, tally: RouteTally
    ) {
        (self.reader, claim) = (reader, reader.claim)
        (policy, earlier, random) = (surroundings.policy, surroundings.earlier, surroundings.random)
        (self.prefetch, self.deliveries, self.hosts) = (prefetch, deliveries, hosts)
        (self.outbox, self.settlement, self.tally) = (outbox, settlement, tally)
    }

    /// Takes one delivery of the route's channel.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - moment: The time.
    /// - Returns: False when the delivery's tag is out of sequence, which means the channel cannot be trusted any more.
    func delivered(_ delivery: consuming Delivery, at moment: Moment) -> Bool {
        let isRedelivered = delivery.redelivered
        let returns = DeliveryReader.returns(of: delivery)
        guard let receipt = deliveries.delivered(delivery.deliveryTag) else { return false }
        let treatment = deliveries.arrived(delivery, returns: returns, earlier: earlier, at: moment)
        tally.counters.jobsReceived += 1
        if isRedelivered { tally.counters.jobsRedelivered += 1 }
        switch treatment {
        case .ordinary: take(delivery, receipt, returns: returns, at: moment)
        case .alone: deliveries.hold(HeldDelivery(delivery, receipt), returns: returns, at: moment, random: &random)
        case .refused: take(delivery, receipt, returns: returns, isPoisonous: true, at: moment)
        }
        return true
    }

    /// Takes up the next delivery that was held, once nothing else of the route is under way.
    func takeSuspect(at moment: Moment) {
        guard deliveries.intake.hasSuspects else { return }
        guard let held = deliveries.takeSuspect(isIdle: hosts.areStill, at: moment) else { return }
        take(held.delivery, held.takeReceipt(), returns: DeliveryReader.returns(of: held.delivery), at: moment)
    }

    /// Reads a delivery and starts to work on it.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - receipt: The right to settle it.
    ///   - returns: How often it came back.
    ///   - isPoisonous: Whether it came back too often to be read.
    ///   - moment: The time.
    private func take(
        _ delivery: consuming Delivery, _ receipt: consuming Receipt?, returns: Int64, isPoisonous: Bool = false,
        at moment: Moment
    ) {
        let isFirstDelivery = !delivery.redelivered
        let properties = delivery.properties
        let size = delivery.bytes.count
        // A body that is too large was never buffered, so only the broker can write a dead letter with it. Other
        // defects of the job do not change this. RabbitMQ 3.10 ends the dead-lettering of the whole node where a
        // producer's `x-death` is not of its own form. So where there is one, the worker writes a letter without a body.
        let isRejected = delivery.isTruncated && !DeliveryReader.hasDeaths(delivery)
        let origin = deliveries.intake.origin(returns: returns)
        // Redelivered copies count as returned, too. A quorum queue also marks copies as redelivered that no worker had
        // received: those that were on their way to a consumer when that was cancelled (`handle_delivery` in RabbitMQ's
        // rabbit_fifo_client returns them).
        // The result of `read` is not kept in a constant, so that the job is moved, never copied.
        switch reader.read(
            delivery, poisonous: isPoisonous ? returns : nil, now: moment.wall,
            returned: { tally.counters.retryReturns[$0] += 1 })
        {
        case .success(let job):
            FailPoint.took(job)
            prefetch.arrived(job.jobClass, notifications: job.notificationCount, bytes: size)
            if !job.isEarly(at: moment.wall), let waited = job.queueMilliseconds(at: moment.wall) {
                tally.counters.queueAge.record(microseconds: 1_000 * Int(waited))
            }
            tally.counters.unknownFields += job.unknownFields > 0 ? 1 : 0
            let inFlight = JobInFlight(
                job: job, refusal: nil, receipt: receipt, properties: properties, receivedAt: moment.wall,
                origin: origin)
            let verdict = deliveries.take(inFlight, isFirstDelivery: isFirstDelivery, at: moment)
            follow(verdict, on: inFlight, at: moment)
        case .failure(var defect):
            prefetch.arrived(
                defect.job.jobClass, notifications: max(1, defect.job.notificationCount), bytes: size)
            let tier = tierOnTheWay(of: defect, at: moment)
            // A route speaks only of what it claims. Before RabbitMQ 4.0.4 `BCC` leads jobs with another app's key here,
            // and a full results queue of that app would keep this route from its work.
            if tier == nil, let claim, defect.job.hasLegibleKey, !claim.covers(defect.job) { defect.job.forgetPlace() }
            let job = JobInFlight(
                job: defect.job, refusal: tier == nil ? defect.report : nil, receipt: receipt, properties: properties,
                receivedAt: moment.wall)
            job.isRejected = isRejected
            deliveries.took(job)
            if let tier {
                while let notification = job.next() {
                    settlement.waitInTier(notification, tier, attempt: job.job.attempt, at: moment)
                }
            } else {
                outbox.refuse(job)
                settlement.reportRefused(at: moment)
            }
        }
    }

    /// The tier in which a refused job waits until its topic has moved: the tier whose delay is nearest to the time
    /// that the job has waited so far. Nil for a job that no other route here claims, and where no tier may hold the job
    /// or the tier would bring it back too late. Nil where the routing key is not that of the job's environment, class
    /// and topic: then no binding of its topic led the job to this route's queue. Nil for a job without a notification
    /// that could go into a copy.
    ///
    /// While a topic moves from one route to another, the broker's bindings and the configurations of workers differ
    /// for a while. Copies keep the start of the wait in `x-apns-first-attempt-at`, so `retry.max_age` ends it.
    private func tierOnTheWay(of defect: borrowing JobDefect, at moment: Moment) -> Int? {
        let job = defect.job
        guard defect.reason == .routingMismatch, job.notificationCount > 0, let claim, !claim.covers(job),
            let environment = job.environment,
            claim.table.route(environment, job.bytes.span.extracting(job.topic)) != nil
        else { return nil }
        var key: [UInt8] = []
        job.appendRoutingKey(to: &key)
        guard job.bytes.span.extracting(job.routingKey).isEqual(to: key.span) else { return nil }
        let waited = Duration.milliseconds(job.firstAttemptAt.map { moment.wall.milliseconds(since: $0) } ?? 0)
        return policy.restingTier(remaining: waited, job: AttemptFacts(job), now: moment.wall)
    }

    /// Lets a job wait for the host that it goes to. A job whose time has not come goes into a tier, unless its
    /// campaign is cancelled. The results of a cancelled job go out when its turn comes.
    private func takeIn(_ job: JobInFlight, at moment: Moment) {
        isSendingOn = job.job.isEarly(at: moment.wall) && !settlement.isCancelled(job, at: moment)
        if isSendingOn { return settlement.hold(job, at: moment) }
        guard !hosts.take(job), let notification = job.next() else { return }
        let setting = Destination.Kind(job.job.operation).setting
        let environment = (job.job.environment ?? .production).rawValue
        let detail = "the worker knows no host for this: set \(setting).\(environment) in its configuration"
        settlement.report(
            notification, FinalReport(.rejected, .fixRequest, reason: .notConfigured, detail: detail), at: moment)
    }

    /// Carries out the verdict on the job that a delivery became.
    private func follow(_ verdict: RouteDeliveries.Verdict, on job: JobInFlight, at moment: Moment) {
        switch verdict {
        case .taken: takeIn(job, at: moment)
        case .suppressed: tally.counters.duplicatesSuppressed += job.job.notificationCount
        case .resumed(let earlier):
            resume(earlier, at: moment)
            tally.counters.duplicatesSuppressed += job.job.notificationCount
        }
    }

    /// Goes on with a job that has a delivery again.
    private func resume(_ job: JobInFlight, at moment: Moment) {
        if !hosts.resume(job), job.hasMore { takeIn(job, at: moment) }
        settlement.resumed(job, at: moment)
    }
}
