import EventLoop
import PushModel
import RabbitMQ

/// A delivery that is held unread. A class, because it owns the right to settle the delivery.
final class HeldDelivery {
    let delivery: Delivery
    private var receipt: Receipt?

    init(_ delivery: Delivery, _ receipt: consuming Receipt) {
        self.delivery = delivery
        self.receipt = consume receipt
    }

    /// Hands out the right to settle the delivery, once.
    func takeReceipt() -> Receipt? { receipt.take() }
}

/// Decides what happens to a redelivery. It is taken in like any other delivery, taken in alone, refused unread, or not
/// taken in because an earlier delivery of the same job was pushed here.
///
/// An intake outlives the channels whose deliveries it judges. Time and randomness come in.
struct DeliveryIntake {
    /// How long a route must be idle, with nothing in flight or waiting to be sent, until unconfirmed jobs no longer
    /// block the next suspect.
    static let survival = Duration.seconds(10)

    /// Recognises jobs of an ended generation when they are delivered again.
    private var memory = RedeliveryMemory<RedeliveryKey, JobInFlight>()
    /// How many times deliveries that were held unread were given back, or lost with their channel.
    private var unreadReturns: UInt32 = 0
    /// The jobs that the present generation settled last.
    private var recent = RecentSettlements<RedeliveryKey>()
    /// Whether there is a channel.
    private var hasChannel = false
    /// Whether something was delivered on the channel.
    private var hasDelivered = false
    /// Holds suspects: deliveries that may have ended a process before. Each is taken up alone.
    private var poison = PoisonWatch<HeldDelivery>()
    /// Since when nothing is in flight or waits to be sent, while there are suspects; nil otherwise.
    private var idleSince: MonotonicTime?

    /// Starts narrow: the route looks at the first deliveries with a prefetch of one.
    init() {}

    /// Whether suspects are held, or one is being worked on.
    var hasSuspects: Bool { poison.hasSuspects }
    /// How many suspects are held.
    var heldCount: Int { poison.heldCount }
    /// Whether the route is to be consumed with a prefetch of one.
    var isNarrow: Bool { poison.isNarrow }

    // MARK: Deliveries

    /// A delivery arrived.
    ///
    /// - Parameters:
    ///   - delivery: The delivery.
    ///   - returns: How often its message came back.
    ///   - earlier: The notes of an earlier process.
    ///   - moment: The time.
    /// - Returns: How to take the delivery in.
    mutating func arrived(
        _ delivery: borrowing Delivery, returns: Int64, earlier: Journal?, at moment: Moment
    ) -> PoisonWatch<HeldDelivery>.Treatment {
        hasDelivered = true
        guard delivery.redelivered else {
            if poison.isNarrow { _ = poison.delivered(count: 0) }
            return .ordinary
        }
        let count = suspiciousReturns(of: delivery, returns, at: moment)
        let isOften = count >= PoisonWatch<HeldDelivery>.limit
        return poison.delivered(
            count: count, knowledge: isOften ? knowledge(of: delivery, earlier: earlier, at: moment) : .none)
    }

    /// How often a delivery may have come back because a process ended.
    ///
    /// What this worker gave back unsent did not end it: returns up to then do not count.
    ///
    /// A broker that closes channels one after the other makes every job look as if it had ended a worker. So returns
    /// that this process outlived do not count. A job that did end a worker finds a new process, which has lost no
    /// channel with deliveries yet and counts every return.
    private func suspiciousReturns(of delivery: borrowing Delivery, _ returns: Int64, at moment: Moment) -> Int64 {
        // Most redeliveries came back once or twice. They need no look at the memory. A count near the queue's delivery
        // limit is taken as it is, so that the job gets its result before the queue gives the job up.
        guard returns >= PoisonWatch<HeldDelivery>.suspicion else { return returns }
        let mark = JournalMark.make(returned: delivery.bytes, delivery.properties, body: delivery.body)
        let own = memory.givenBack.returns(of: mark)
        guard own == 0, returns < PoisonWatch<HeldDelivery>.mostReturns else { return max(0, returns - own) }
        return max(0, returns - memory.outlivedReturns(now: moment.monotonic))
    }

    /// What is known of a delivery without reading it.
    private mutating func knowledge(
        of delivery: borrowing Delivery, earlier: Journal?, at moment: Moment
    ) -> PoisonWatch<HeldDelivery>.Knowledge {
        let length = delivery.body.count
        let isKnown = memory.mayKnow(now: moment.monotonic) { $0.bodyLength == length }
        if isKnown { return .remembered }
        guard let earlier, let mark = JournalMark.make(unread: delivery) else { return .none }
        return earlier.knows(mark, now: moment.wall) ? .journalled : .none
    }

    /// Where a delivery stands among all deliveries of its message.
    func origin(returns: Int64) -> DeliveryOrigin {
        DeliveryOrigin(returns: returns, unreadReturns: unreadReturns)
    }

    /// What became of an earlier delivery of a job, if there was one. Each earlier delivery is found only once.
    mutating func recognise(
        _ key: RedeliveryKey, as origin: DeliveryOrigin, at moment: Moment
    ) -> RedeliveryMemory<RedeliveryKey, JobInFlight>.Finding {
        memory.redelivered(key, as: origin, now: moment.monotonic)
    }

    /// Whether a job was settled on the present channel.
    func hasSettled(_ key: RedeliveryKey, at moment: Moment) -> Bool {
        recent.contains(key, now: moment.monotonic)
    }

    // MARK: Suspects

    /// Holds a suspect, to be taken up alone.
    mutating func hold(
        _ held: HeldDelivery, returns: Int64, at moment: Moment, random: inout some RandomNumberGenerator
    ) {
        let count = max(PoisonWatch<HeldDelivery>.suspicion, suspiciousReturns(of: held.delivery, returns, at: moment))
        poison.hold(held, count: count, now: moment.monotonic, random: &random)
    }

    /// The next suspect; nil while something else of the route is under way.
    ///
    /// - Parameters:
    ///   - isIdle: Whether nothing is in flight, and nothing waits to be sent.
    ///   - isAlone: Whether nothing but held suspects is unacknowledged.
    ///   - moment: The time.
    mutating func takeSuspect(isIdle: Bool, isAlone: Bool, at moment: Moment) -> HeldDelivery? {
        let now = moment.monotonic
        idleSince = isIdle ? idleSince ?? now : nil
        // A job that only waits for its confirms has not ended the process, however long it waits.
        let hasSurvived = idleSince.map { now >= $0 + Self.survival } ?? false
        let suspect = poison.takeNext(isAlone: hasSurvived || isAlone, now: now)
        if !poison.hasSuspects { idleSince = nil }
        return suspect
    }

    /// Takes out all suspects that are held, because they go back to the broker unread.
    ///
    mutating func releaseSuspects() -> [HeldDelivery] {
        let suspects = poison.takeAll()
        if !suspects.isEmpty { unreadReturns &+= 1 }
        for suspect in suspects {
            let delivery = suspect.delivery
            let mark = JournalMark.make(returned: delivery.bytes, delivery.properties, body: delivery.body)
            memory.givenBack.note(mark, returns: DeliveryReader.returns(of: delivery))
        }
        return suspects
    }

    // MARK: Jobs

    /// A job is settled, and its acknowledgement is on its way.
    mutating func settled(_ key: RedeliveryKey, as origin: DeliveryOrigin = DeliveryOrigin(), at moment: Moment) {
        recent.note(key, as: origin, now: moment.monotonic)
    }

    /// A job of an ended generation is settled after all.
    mutating func finished(_ key: RedeliveryKey, _ job: JobInFlight, isRemembered: Bool) {
        memory.finished(key, job, isRemembered: isRemembered)
    }

    /// A job goes back to the broker unsent.
    mutating func handedBack(_ job: JobInFlight, at moment: Moment) {
        if let key = job.redeliveryKey { memory.handedBack(key, now: moment.monotonic) }
        memory.givenBack.note(
            JournalMark.make(returned: job.job.bytes, job.properties, body: job.job.body), returns: job.origin.returns)
    }

    // MARK: Time and generations

    /// The consumer started. The first messages of the queue are on their way.
    mutating func consumeStarted(at moment: Moment) { poison.consumeStarted(now: moment.monotonic) }

    /// There is a channel again.
    mutating func generationBegan(at moment: Moment) {
        hasChannel = true
        memory.channelOpened(now: moment.monotonic)
    }

    /// The channel is gone.
    ///
    /// - Parameters:
    ///   - jobs: The jobs that were not settled.
    ///   - moment: The time.
    mutating func generationEnded(_ jobs: [JobInFlight], at moment: Moment) {
        var unsent: [RedeliveryKey] = []
        var unfinished: [RedeliveryMemory<RedeliveryKey, JobInFlight>.Unfinished] = []
        for job in jobs {
            guard let key = job.redeliveryKey, !job.isRejected else { continue }
            if job.isStarted {
                unfinished.append(.init(key: key, job: job, bytes: job.job.bytes.count, origin: job.origin))
            } else {
                unsent.append(key)
            }
        }
        let settled = recent.takeAll()
        if hasChannel || !(settled.isEmpty && unsent.isEmpty && unfinished.isEmpty) {
            memory.generationEnded(settled: settled, unsent: unsent, unfinished: unfinished, now: moment.monotonic)
            if hasChannel { memory.channelClosed(delivered: hasDelivered, now: moment.monotonic) }
        }
        (hasChannel, hasDelivered) = (false, false)
        if poison.heldCount > 0 { unreadReturns &+= 1 }
        poison = PoisonWatch()
        idleSince = nil
    }

    /// Time passed. An empty queue is taken for harmless, and jobs that were remembered for long enough are forgotten.
    mutating func tick(at moment: Moment) {
        poison.tick(now: moment.monotonic)
        memory.forgetIfDue(now: moment.monotonic)
    }

    /// When the next suspect may be taken up, or the look at the first deliveries ends; nil for never.
    ///
    /// - Parameter now: The time. A suspect whose time is past waits for an event.
    func nextDue(after now: MonotonicTime) -> MonotonicTime? {
        let suspect = poison.due.flatMap { $0 > now ? $0 : nil }
        guard let idleSince, idleSince + Self.survival > now else { return suspect }
        return min(suspect ?? .distantFuture, idleSince + Self.survival)
    }

    /// When a job is to be forgotten; nil for never. Forgetting is not urgent.
    var nextForgetting: MonotonicTime? { memory.nextDue }
}
