internal import DequeModule
internal import EventLoop
internal import PushModel
internal import RabbitMQ

// From a delivery to a job, or to a result that says what is wrong with it. Whatever arrives, nothing else happens.
extension Route {
    /// Takes one delivery of the route's channel.
    ///
    /// - Returns: False when the delivery's tag is out of sequence, which means the channel cannot be trusted any more.
    func delivered(_ delivery: consuming Delivery, now: MonotonicTime, wallClock: Int64) -> Bool {
        guard acknowledgements.delivered(delivery.deliveryTag) else { return false }
        counters.jobsReceived += 1
        guard delivery.redelivered else {
            if poison.isNarrow { _ = poison.delivered(count: 0) }
            take(delivery, now: now, wallClock: wallClock)
            return true
        }
        counters.jobsRedelivered += 1
        let count = Self.returns(of: delivery)
        let isOften = count >= PoisonWatch<Delivery>.limit
        let known = isOften ? knowledge(of: delivery, now: now, wallClock: wallClock) : .none
        switch poison.delivered(count: count, knowledge: known) {
        case .ordinary: take(delivery, now: now, wallClock: wallClock)
        case .alone: poison.hold(delivery, count: count, now: now.nanoseconds, random: &random)
        case .refused: take(delivery, poisonous: count, now: now, wallClock: wallClock)
        }
        return true
    }

    /// What is known of a delivery without reading it.
    private func knowledge(
        of delivery: borrowing Delivery, now: MonotonicTime, wallClock: Int64
    ) -> PoisonWatch<Delivery>.Knowledge {
        let length = delivery.body.count
        if memory.mayKnow(now: now.nanoseconds, where: { $0.bodyLength == length }) { return .remembered }
        guard let earlier = surroundings.earlier, let mark = JournalMark.make(unread: delivery) else { return .none }
        return earlier.knows(mark, now: wallClock) ? .journalled : .none
    }

    /// Takes up the next delivery that was held, once nothing else of the route is under way.
    func takeSuspect(now: MonotonicTime, wallClock: Int64) {
        guard poison.hasSuspects else {
            idleSince = nil
            return
        }
        let isIdle = requests.count == 0 && waiting.isEmpty && resends.isEmpty && areChannelsStill
        idleSince = isIdle ? idleSince ?? now.nanoseconds : nil
        // What only waits for the broker to take its results has survived, however long that lasts.
        let hasSurvived = idleSince.map { now.nanoseconds >= $0 + Self.survival } ?? false
        let isAlone =
            hasSurvived || acknowledgements.unacknowledged == poison.heldCount && owedAcknowledgements.isEmpty
        guard let delivery = poison.takeNext(isAlone: isAlone, now: now.nanoseconds) else { return }
        take(delivery, now: now, wallClock: wallClock)
    }

    /// How often a delivery came back, by the count of a quorum queue; 0 where there is none, or it cannot be read. In
    /// other queues a producer may have written any number.
    private static func returns(of delivery: borrowing Delivery) -> Int64 {
        guard let table = try? MessagePropertyReader(delivery.bytes, delivery.properties).headers else { return 0 }
        var reader = FieldTableReader(table)
        while let field = try? reader.next(in: delivery.bytes) {
            guard case .integer(let count) = field.value else { continue }
            guard delivery.bytes.span.extracting(field.name).isText("x-delivery-count") else { continue }
            return min(max(0, count), Int64(UInt32.max))
        }
        return 0
    }

    /// Reads a delivery and starts to work on it.
    ///
    /// - Parameter poisonous: How often it came back, where that is too often for it to be read.
    private func take(
        _ delivery: consuming Delivery, poisonous: Int64? = nil, now: MonotonicTime, wallClock: Int64
    ) {
        let tag = delivery.deliveryTag
        let isFirstDelivery = !delivery.redelivered
        let properties = delivery.properties
        let size = delivery.bytes.count
        // Such a body was never buffered, so only the broker can write a dead letter with it, whatever else is wrong.
        let isRejected = delivery.isTruncated
        let origin = DeliveryOrigin(
            returns: isFirstDelivery ? 0 : Self.returns(of: delivery), unreadReturns: unreadReturns)
        switch read(delivery, poisonous: poisonous, wallClock: wallClock) {
        case .success(let job):
            FailPoint.took(job)
            credit.arrived(notifications: job.notificationCount, bytes: size)
            if let enqueuedAt = job.enqueuedAt {
                counters.queueAge.record(microseconds: 1_000 * wallClock.milliseconds(since: enqueuedAt))
            }
            counters.unknownFields += job.unknownFields > 0 ? 1 : 0
            let inFlight = JobInFlight(
                job: job, refusal: nil, deliveryTag: tag, generation: consumer.generation, properties: properties,
                receivedAt: wallClock, origin: origin)
            if inFlight.job.redelivered, isSuppressed(inFlight, isFirstDelivery: isFirstDelivery, now: now) { return }
            inFlight.slot = open.insert(inFlight)
            if inFlight.job.operation == .push {
                waiting.append(inFlight)
            } else {
                takeChannelJob(inFlight, wallClock: wallClock)
            }
        case .failure(let defect):
            credit.arrived(notifications: max(1, defect.job.notificationCount), bytes: size)
            let job = JobInFlight(
                job: defect.job, refusal: defect.report, deliveryTag: tag, generation: consumer.generation,
                properties: properties, receivedAt: wallClock)
            job.isRejected = isRejected
            job.slot = open.insert(job)
            refused.append(job)
            reportRefused(wallClock: wallClock)
        }
    }

    /// Reports jobs that are refused, as long as results find their way out: one per notification that could be read, so
    /// that every token's producer hears of it.
    func reportRefused(wallClock: Int64) {
        while let job = refused.first, let refusal = job.refusal,
            surroundings.publisher.takesRefusals(withReply: job.job.replyTo != nil)
        {
            if job.unsettled == 1 { refused.removeFirst() }
            report(Notification(job: job, index: job.nextIndex() ?? 0), refusal, wallClock: wallClock)
        }
    }

    /// Whether a redelivery needs no push of its own, because an earlier delivery of the same job was pushed here; for
    /// a copy that the broker may have twice, the other one.
    private func isSuppressed(_ delivery: JobInFlight, isFirstDelivery: Bool, now: MonotonicTime) -> Bool {
        guard let key = delivery.redeliveryKey else { return false }
        switch memory.redelivered(key, as: delivery.origin, now: now.nanoseconds) {
        case .unknown:
            // Of a copy that the broker has twice the second is not needed: the first was settled, or is under way and
            // comes back if this worker does not live to settle it.
            guard isFirstDelivery,
                memory.hasSettled(key, now: now.nanoseconds)
                    || open.contains(where: { $0.isFirst(of: delivery, key) })
            else { return false }
            acknowledgements.done(delivery.deliveryTag, now: now.nanoseconds)
        case .settled:
            acknowledgements.done(delivery.deliveryTag, now: now.nanoseconds)
            // This acknowledgement can be lost as well.
            memory.settled(key, as: delivery.origin, now: now.nanoseconds)
        case .unfinished(let job): takeOver(delivery, for: job, now: now)
        }
        counters.duplicatesSuppressed += delivery.job.notificationCount
        return true
    }

    /// Goes on with a job whose channel was gone, now that the broker delivered it again.
    private func takeOver(_ delivery: JobInFlight, for job: JobInFlight, now: MonotonicTime) {
        job.redelivered(as: delivery)
        job.slot = open.insert(job)
        if job.job.operation == .push {
            resends.append(contentsOf: job.takePostponed())
            if job.hasMore { waiting.prepend(job) }
        } else {
            resumeChannelJob(job, wallClock: job.receivedAt)
        }
        publishGroupsIfSettled(job)
        if job.isFinished { finish(job, now: now) }
    }

    /// Reads a delivery as a job and checks that it belongs to this route.
    private func read(
        _ delivery: consuming Delivery, poisonous: Int64?, wallClock: Int64
    ) -> Result<Job, JobDefect> {
        let isTruncated = delivery.isTruncated
        let size = delivery.bodySize
        var message = JobMessage(
            bytes: delivery.bytes, routingKey: delivery.routingKey, body: delivery.body,
            redelivered: delivery.redelivered)
        do throws(AMQPError) {
            try Self.read(delivery.properties, into: &message)
        } catch {
            return .failure(decoder.refuse(message, .badHeaders, error.message, now: wallClock, random: Self.bits))
        }
        if isTruncated {
            let detail = "the body has \(size) bytes, and a job may have \(JobDecoder.maximumBodyLength): split the job"
            return .failure(decoder.refuse(message, .bodyTooLarge, detail, now: wallClock, random: Self.bits))
        }
        if let poisonous {
            let detail =
                "it came back to its queue \(poisonous) times, and every worker that took it up may have "
                + "died of it: look for the cause before it is replayed"
            return .failure(decoder.refuseUnread(message, .poison, detail, now: wallClock, random: Self.bits))
        }
        guard let claim else {
            let detail = "no route takes this routing key: check its environment and topic against the workers' routes"
            return .failure(decoder.refuse(message, .noRoute, detail, now: wallClock, random: Self.bits))
        }
        let decoded = decoder.decode(message, now: wallClock, random: Self.bits)
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
            var reader = FieldTableReader(table)
            while let field = try reader.next(in: message.bytes) {
                let value: HeaderValue
                switch field.value {
                case .text(let range): value = .text(range)
                case .bytes(let range): value = .bytes(range)
                case .integer(let number): value = .integer(number)
                case .void: continue
                default: value = .other
                }
                message.headers.take(name: field.name, value: value, in: message.bytes)
            }
        }
    }
}

/// The (environment, topic) pairs that one route answers for.
struct RouteClaim: Sendable {
    /// The claims of all configured routes.
    let table: RoutesTable
    /// The route's position in that table.
    let index: Int

    /// Whether a job's environment and topic belong to the route.
    func covers(_ job: borrowing Job) -> Bool {
        guard let environment = job.environment else { return false }
        return table.route(index, claims: environment, job.bytes.span.extracting(job.topic))
    }
}

extension Int64 {
    /// How much later this wall clock time is than a producer's, in milliseconds: never negative, never more than a
    /// year, because a producer may claim any time at all.
    func milliseconds(since earlier: Int64) -> Int {
        let (difference, overflowed) = subtractingReportingOverflow(earlier)
        return overflowed ? 0 : Int(Swift.min(Swift.max(0, difference), 31_536_000_000))
    }
}

extension Span where Element == UInt8 {
    /// Whether both spans hold the same bytes.
    func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for position in 0..<count where self[position] != other[position] { return false }
        return true
    }
}
