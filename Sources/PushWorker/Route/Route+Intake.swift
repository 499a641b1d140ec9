import EventLoop
import PushModel
import RabbitMQ

// From a delivery to a job, or to a result that says what is wrong with it. Whatever arrives, nothing else happens.
extension Route {
    /// Takes one delivery of the route's channel.
    ///
    /// - Returns: False when the delivery's tag is out of sequence, which means the channel cannot be trusted any more.
    func delivered(_ delivery: consuming Delivery, at moment: Moment) -> Bool {
        guard ledger.delivered(delivery.deliveryTag) else { return false }
        counters.jobsReceived += 1
        let isRedelivered = delivery.redelivered
        if isRedelivered { counters.jobsRedelivered += 1 }
        let returns = isRedelivered ? Self.returns(of: delivery) : 0
        switch intake.arrived(delivery, returns: returns, earlier: surroundings.earlier, at: moment) {
        case .ordinary: take(delivery, returns: returns, at: moment)
        case .alone: intake.hold(delivery, returns: returns, at: moment, random: &random)
        case .refused: take(delivery, returns: returns, isPoisonous: true, at: moment)
        }
        return true
    }

    /// Takes up the next delivery that was held, once nothing else of the route is under way.
    func takeSuspect(at moment: Moment) {
        guard intake.hasSuspects, shared.suspects.mayTake(surroundings.lane, of: shared.lanes) else { return }
        let isIdle =
            devices.isStill && asked.isEmpty && (!hasBroadcastChannelWork || broadcastHosts.allSatisfy(\.isStill))
        let isAlone = ledger.unacknowledged == intake.heldCount && !ledger.hasDebts
        guard let delivery = intake.takeSuspect(isIdle: isIdle, isAlone: isAlone, at: moment) else { return }
        let returns = Self.returns(of: delivery)
        take(delivery, returns: returns, at: moment)
    }

    /// How often a delivery came back, by the count of a quorum queue; 0 without one that can be read. In
    /// other queues a producer may have written any number.
    private static func returns(of delivery: borrowing Delivery) -> Int64 {
        guard let table = try? MessagePropertyReader(delivery.bytes, delivery.properties).headers else { return 0 }
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
        while let field = try? reader.next(in: delivery.bytes) {
            guard case .integer(let count) = field.value else { continue }
            guard delivery.bytes.span.extracting(field.name).isText(BrokerHeader.deliveryCount) else { continue }
            return min(max(0, count), Int64(UInt32.max))
        }
        return 0
    }

    /// Reads a delivery and starts to work on it.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - returns: How often it came back.
    ///   - isPoisonous: Whether that is too often for it to be read.
    ///   - moment: The time.
    private func take(_ delivery: consuming Delivery, returns: Int64, isPoisonous: Bool = false, at moment: Moment) {
        let tag = delivery.deliveryTag
        let isFirstDelivery = !delivery.redelivered
        let properties = delivery.properties
        let size = delivery.bytes.count
        // Such a body was never buffered, so only the broker can write a dead letter with it, whatever else is wrong.
        let isRejected = delivery.isTruncated
        let origin = intake.origin(returns: returns)
        switch read(delivery, poisonous: isPoisonous ? returns : nil, at: moment) {
        case .success(let job):
            FailPoint.took(job)
            learn(job.jobClass, notifications: job.notificationCount, bytes: size)
            if !job.isEarly(at: moment.wall), let waited = job.queueMilliseconds(at: moment.wall) {
                counters.queueAge.record(microseconds: 1_000 * Int(waited))
            }
            counters.unknownFields += job.unknownFields > 0 ? 1 : 0
            let inFlight = JobInFlight(
                job: job, refusal: nil, deliveryTag: tag, generation: ledger.generation, properties: properties,
                receivedAt: moment.wall, origin: origin)
            if inFlight.job.redelivered, isSettledElsewhere(inFlight, isFirstDelivery: isFirstDelivery, at: moment) {
                return
            }
            ledger.took(inFlight)
            takeIn(inFlight, at: moment)
        case .failure(let defect):
            learn(defect.job.jobClass, notifications: max(1, defect.job.notificationCount), bytes: size)
            let tier = tierOnTheWay(of: defect, at: moment)
            let job = JobInFlight(
                job: defect.job, refusal: tier == nil ? defect.report : nil, deliveryTag: tag,
                generation: ledger.generation, properties: properties, receivedAt: moment.wall)
            job.isRejected = isRejected
            ledger.took(job)
            if let tier {
                while let index = job.nextIndex() {
                    waitInTier(Notification(job: job, index: index), tier, attempt: job.job.attempt, at: moment)
                }
            } else {
                refused.take(job)
                reportRefused(at: moment)
            }
        }
    }

    /// The tier in which a refused job waits until its topic has moved. It waits as long again as it has waited so far.
    /// Nil for a job that no other route here claims, or that the exchange did not lead to this route's queue.
    ///
    /// While a topic moves from one route to another, the broker's bindings and the configurations of workers differ for a
    /// while. Copies keep the start of the wait in `x-apns-first-attempt-at`, so `retry.max_age` ends it.
    private func tierOnTheWay(of defect: borrowing JobDefect, at moment: Moment) -> Int? {
        let job = defect.job
        guard defect.reason == .routingMismatch, let claim, let environment = job.environment,
            claim.table.route(environment, job.bytes.span.extracting(job.topic)) != nil
        else { return nil }
        var key: [UInt8] = []
        job.appendRoutingKey(to: &key)
        guard job.bytes.span.extracting(job.routingKey).isEqual(to: key.span) else { return nil }
        let waited = Duration.milliseconds(job.firstAttemptAt.map { moment.wall.milliseconds(since: $0) } ?? 0)
        return surroundings.policy.restingTier(remaining: waited, job: AttemptFacts(job), now: moment.wall)
    }

    /// Lets a job wait for the host that it asks something of.
    func takeIn(_ job: JobInFlight, at moment: Moment) {
        isSendingOn = job.job.isEarly(at: moment.wall)
        if isSendingOn { return hold(job, at: moment) }
        let kind = Destination.Kind(job.job.operation)
        guard let destination = destination(kind) else {
            let environment = (job.job.environment ?? .production).rawValue
            let detail = "the worker knows no host for this: set \(kind.setting).\(environment) in its configuration"
            report(
                Notification(job: job, index: job.nextIndex() ?? 0),
                FinalReport(.rejected, .fixRequest, reason: .notConfigured, detail: detail), at: moment)
            return
        }
        if destination.isForBroadcastChannels { hasBroadcastChannelWork = true }
        destination.take(job)
    }

    /// Reports jobs that are refused, as long as results find their way out.
    func reportRefused(at moment: Moment) {
        while let notification = refused.next(surroundings.publisher, of: position) {
            guard let refusal = notification.job.refusal else { continue }
            report(notification, refusal, at: moment)
        }
    }

    /// True if this delivery must not be pushed now: its job was pushed already or is open here, or other lanes were asked
    /// and have not answered.
    private func isSettledElsewhere(_ delivery: JobInFlight, isFirstDelivery: Bool, at moment: Moment) -> Bool {
        switch suppressRedelivery(delivery, at: moment) {
        case .suppressed: return true
        case .unsent: return false
        case .unknown: break
        }
        // Drop the second copy of a retry that was published twice: the first is settled, or still open here. An open one
        // comes back if this worker dies.
        if isFirstDelivery, let key = delivery.redeliveryKey,
            intake.hasSettled(key, at: moment) || ledger.contains(where: { $0.isFirst(of: delivery, key) })
        {
            suppressCopy(delivery, at: moment)
            return true
        }
        return askOthers(about: delivery, isCopy: isFirstDelivery, at: moment)
    }

    /// What the memory of redeliveries says about a delivery.
    enum Recognition {
        /// Nothing.
        case unknown
        /// It was not pushed.
        case unsent
        /// It was pushed here, and needs no push of its own.
        case suppressed
    }

    /// Goes on with what was pushed for an earlier delivery of the same job, where one is remembered.
    func suppressRedelivery(_ delivery: JobInFlight, at moment: Moment) -> Recognition {
        guard let key = delivery.redeliveryKey else { return .unsent }
        switch intake.recognise(key, as: delivery.origin, at: moment) {
        case .unknown: return .unknown
        case .unsent: return .unsent
        case .settled:
            ledger.finish(delivery.deliveryTag, at: moment)
            // This acknowledgement can be lost as well.
            intake.settled(key, as: delivery.origin, at: moment)
        case .unfinished(let job) where job.lane == surroundings.lane: takeOver(delivery, for: job.job, at: moment)
        case .unfinished(let job): if !lend(delivery, key, to: job) { return .unsent }
        }
        counters.duplicatesSuppressed += delivery.job.notificationCount
        return .suppressed
    }

    /// Acknowledges the second of two copies.
    func suppressCopy(_ copy: JobInFlight, at moment: Moment) {
        ledger.finish(copy.deliveryTag, at: moment)
        counters.duplicatesSuppressed += copy.job.notificationCount
    }

    /// Goes on with a job whose channel was gone, now that the broker delivered it again.
    private func takeOver(_ delivery: JobInFlight, for job: JobInFlight, at moment: Moment) {
        job.redelivered(as: delivery)
        ledger.took(job)
        resume(job, at: moment)
    }

    /// Goes on with a job that has a delivery again.
    func resume(_ job: JobInFlight, at moment: Moment) {
        if let destination = destination(Destination.Kind(job.job.operation)) {
            if destination.isForBroadcastChannels { hasBroadcastChannelWork = true }
            destination.resume(job)
        } else if job.hasMore {
            takeIn(job, at: moment)
        }
        publishGroupsIfSettled(job)
        if job.isFinished { finish(job, at: moment) }
    }

    /// Gives jobs that were not begun back to the broker, where another worker may do better with them.
    func handBack(at moment: Moment, _ condition: LaneCondition) {
        // A route that cannot work gives its jobs back in the end, because another worker may be able to work.
        let isGivingUp = devices.breaker.intake == .none && (condition.isDraining || shouldHandBack)
        // Results that cannot leave are kept, but jobs that were not sent may go to a worker whose results can.
        guard isHeldUp || condition.isHeldUp || isGivingUp || condition.isLeaving else { return }
        // Not while a consumer of ours may still be served: the broker would deliver the jobs straight back to us. What was
        // lent goes back on another lane's channel.
        let canRequeue = ledger.isOpen && !consumer.mayReceive
        let mayGoBack: (JobInFlight) -> Bool = { $0.lent != nil || canRequeue && self.ledger.holds($0) }
        var unsent = devices.takeUnsent(where: mayGoBack)
        if hasBroadcastChannelWork, condition.isDraining {
            for host in broadcastHosts { unsent += host.takeUnsent(where: mayGoBack) }
        }
        if canRequeue { unsent += refused.takeUnreported() }
        counters.jobsHandedBack += unsent.count
        for job in unsent {
            if let key = job.redeliveryKey { intake.handedBack(key, at: moment) }
            if job.lent == nil { ledger.requeue(job, at: moment) } else { giveBackLent(job) }
        }
        guard canRequeue else { return }
        let suspects = intake.releaseSuspects()
        counters.jobsHandedBack += suspects.count
        for suspect in suspects { ledger.requeue(suspect, at: moment) }
    }

    /// Whether a stopped route gives its unsent jobs back. Up to one job per queue stays for the next probe, because every
    /// return counts towards poison.
    var shouldHandBack: Bool {
        // Jobs taken since then stay or go into tiers, because each time a job is given back counts.
        guard devices.breaker.mayHandBack, !expiryLook.hasBegun else { return false }
        guard devices.breaker.awaitsProbe else { return true }
        return devices.waiting.count + devices.resends.count + intake.heldCount > queues.count
    }

    /// Reads a delivery as a job and checks that it belongs to this route.
    private func read(
        _ delivery: consuming Delivery, poisonous: Int64?, at moment: Moment
    ) -> Result<Job, JobDefect> {
        let isTruncated = delivery.isTruncated
        let (size, properties) = (delivery.bodySize, delivery.properties)
        var message = JobMessage(
            bytes: delivery.bytes, routingKey: delivery.routingKey, body: delivery.body,
            redelivered: delivery.redelivered)
        do throws(AMQPError) {
            try Self.read(properties, into: &message)
        } catch {
            return .failure(decoder.refuse(message, .badHeaders, error.message, now: moment.wall, random: Self.bits))
        }
        if isTruncated {
            let detail = "the body has \(size) bytes, and a job may have \(JobDecoder.maximumBodyLength): split the job"
            return .failure(decoder.refuse(message, .bodyTooLarge, detail, now: moment.wall, random: Self.bits))
        }
        if let poisonous {
            let detail =
                "it came back to its queue \(poisonous) times, and every worker that took it up may have "
                + "died of it: look for the cause before it is replayed"
            return .failure(decoder.refuseUnread(message, .poison, detail, now: moment.wall, random: Self.bits))
        }
        if message.headers.isCopy { countReturn(of: message, properties) }
        guard let claim else {
            let detail =
                JobRoutingKey.mistake(message.routingKey, in: message.bytes.span)
                ?? "no route takes this routing key: check its environment and topic against the workers' routes"
            return .failure(decoder.refuse(message, .noRoute, detail, now: moment.wall, random: Self.bits))
        }
        let decoded = decoder.decode(message, now: moment.wall, random: Self.bits)
        guard case .success(let job) = decoded, !claim.covers(job) else { return decoded }
        return .failure(
            job.refused(
                .routingMismatch,
                "environment and topic belong to another route than \(name), whose queue delivered the job"))
    }

    /// Random bits for the id of a job that brings none.
    private static func bits() -> UInt64 { UInt64.random(in: 0 ... .max) }

    /// Notes in the message where its properties and headers are.
    static func read(_ range: Range<Int>, into message: inout JobMessage) throws(AMQPError) {
        let properties = try MessagePropertyReader(message.bytes, range)
        message.contentType = properties.contentType
        message.contentEncoding = properties.contentEncoding
        message.messageID = properties.messageID
        message.correlationID = properties.correlationID
        message.replyTo = properties.replyTo
        message.timestamp = properties.timestamp
        if let table = properties.headers {
            // Headers that workers and brokers add to a job must not make it break the producer's limit.
            let limit = FieldTableReader.maximumSize
            var mayBeLarger = table.count <= limit || message.redelivered
            var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
            while let field = try reader.next(in: message.bytes) {
                if !mayBeLarger { mayBeLarger = isAddition(message.bytes.span.extracting(field.name)) }
                guard let value = HeaderValue(field.value) else { continue }
                message.headers.take(name: field.name, value: value, in: message.bytes)
            }
            if !mayBeLarger { throw FieldTableReader.tooLarge(table.count, over: limit) }
        }
    }

    /// Whether a header shows that a worker published the message, or that the broker moved it.
    private static func isAddition(_ name: Span<UInt8>) -> Bool {
        name.isText(HeaderName.version) || name.isText(BrokerHeader.death)
    }
}

extension Span where Element == UInt8 {
    /// Whether both spans hold the same bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for position in 0..<count where self[position] != other[position] { return false }
        return true
    }

    /// Whether these bytes are a text in UTF-8.
    func isEqual(to text: String) -> Bool {
        var text = text
        return text.withUTF8 { isEqual(to: $0.span) }
    }
}
