internal import EventLoop
internal import PushModel
internal import RabbitMQ

/// Decides how a delivery that the broker made before is taken in: like any other, alone, unread, or not at all because
/// an earlier delivery of the same job was pushed here.
///
/// It outlives the channels whose deliveries it judges. Pure: time and randomness come in.
struct DeliveryIntake {
    /// For how long nothing must be sent, or wait to be, until jobs that wait for their confirms alone keep no suspect
    /// waiting.
    static let survival = Duration.seconds(10)

    /// Recognises what an ended generation delivered, when it comes again.
    private var memory = RedeliveryMemory<RedeliveryKey, JobInFlight>()
    /// Holds what may have ended the process before, to be taken up alone.
    private var poison = PoisonWatch<Delivery>()
    /// Since when nothing is sent or waits to be, while suspects are held; nil while something does.
    private var idleSince: MonotonicTime?
    /// How often suspects were given back unread, or lost with their channel.
    var unreadReturns: UInt32 = 0

    /// Starts with nothing to remember, and with a look at what comes first.
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
    ///   - returns: How often it came back.
    ///   - earlier: What an earlier process noted.
    ///   - moment: The time.
    /// - Returns: How to take it in.
    mutating func arrived(
        _ delivery: borrowing Delivery, returns: Int64, earlier: Journal?, at moment: Moment
    ) -> PoisonWatch<Delivery>.Treatment {
        guard delivery.redelivered else {
            if poison.isNarrow { _ = poison.delivered(count: 0) }
            return .ordinary
        }
        let isOften = returns >= PoisonWatch<Delivery>.limit
        return poison.delivered(
            count: returns, knowledge: isOften ? knowledge(of: delivery, earlier: earlier, at: moment) : .none)
    }

    /// What is known of a delivery without reading it.
    private mutating func knowledge(
        of delivery: borrowing Delivery, earlier: Journal?, at moment: Moment
    ) -> PoisonWatch<Delivery>.Knowledge {
        let length = delivery.body.count
        if memory.mayKnow(now: moment.monotonic.nanoseconds, where: { $0.bodyLength == length }) { return .remembered }
        guard let earlier, let mark = JournalMark.make(unread: delivery) else { return .none }
        return earlier.knows(mark, now: moment.wall) ? .journalled : .none
    }

    /// Where a delivery stands among all there were of its message.
    func origin(returns: Int64) -> DeliveryOrigin { DeliveryOrigin(returns: returns, unreadReturns: unreadReturns) }

    /// Whether a delivery of a job was made before, and what became of that one; what is found is used up.
    mutating func recognise(
        _ key: RedeliveryKey, as origin: DeliveryOrigin, at moment: Moment
    ) -> RedeliveryMemory<RedeliveryKey, JobInFlight>.Finding {
        memory.redelivered(key, as: origin, now: moment.monotonic.nanoseconds)
    }

    /// Whether a job was settled on the present channel.
    func hasSettled(_ key: RedeliveryKey, at moment: Moment) -> Bool {
        memory.hasSettled(key, now: moment.monotonic.nanoseconds)
    }

    // MARK: Suspects

    /// Holds a suspect, to be taken up alone.
    mutating func hold(
        _ delivery: Delivery, returns: Int64, at moment: Moment, random: inout some RandomNumberGenerator
    ) {
        poison.hold(delivery, count: returns, now: moment.monotonic.nanoseconds, random: &random)
    }

    /// The next suspect, once nothing else of the route is under way.
    ///
    /// - Parameters:
    ///   - isIdle: Whether nothing is sent, or waits to be.
    ///   - isAlone: Whether nothing but held suspects is unacknowledged.
    ///   - moment: The time.
    mutating func takeSuspect(isIdle: Bool, isAlone: Bool, at moment: Moment) -> Delivery? {
        let now = moment.monotonic
        idleSince = isIdle ? idleSince ?? now : nil
        // What only waits for the broker to take its results has survived, however long that lasts.
        let hasSurvived = idleSince.map { now >= $0 + Self.survival } ?? false
        let suspect = poison.takeNext(isAlone: hasSurvived || isAlone, now: now.nanoseconds)
        if !poison.hasSuspects { idleSince = nil }
        return suspect
    }

    /// Gives up all suspects that are held.
    ///
    /// - Returns: Their delivery tags.
    mutating func releaseSuspects() -> [UInt64] {
        let suspects = poison.takeAll()
        if !suspects.isEmpty { unreadReturns &+= 1 }
        return suspects.map(\.deliveryTag)
    }

    // MARK: Jobs

    /// A job is settled, and its acknowledgement on its way.
    mutating func settled(_ key: RedeliveryKey, as origin: DeliveryOrigin = DeliveryOrigin(), at moment: Moment) {
        memory.settled(key, as: origin, now: moment.monotonic.nanoseconds)
    }

    /// A job of an ended generation is settled after all.
    mutating func finished(_ key: RedeliveryKey, _ job: JobInFlight) {
        memory.finished(key, job, isRemembered: !job.comesBackUnchanged)
    }

    /// A job goes back to the broker unsent.
    mutating func handedBack(_ key: RedeliveryKey, at moment: Moment) {
        memory.handedBack(key, now: moment.monotonic.nanoseconds)
    }

    // MARK: Time and generations

    /// The consumer started: what stands first in the queue is on its way.
    mutating func consumeStarted(at moment: Moment) { poison.consumeStarted(now: moment.monotonic.nanoseconds) }

    /// There is a channel again.
    mutating func generationBegan(at moment: Moment) { memory.generationBegan(now: moment.monotonic.nanoseconds) }

    /// The channel is gone.
    ///
    /// - Parameters:
    ///   - jobs: Those that were not settled.
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
        memory.generationEnded(unsent: unsent, unfinished: unfinished, now: moment.monotonic.nanoseconds)
        if poison.heldCount > 0 { unreadReturns &+= 1 }
        poison = PoisonWatch()
        idleSince = nil
    }

    /// Time passed: an empty queue is harmless, and what was remembered for long enough is forgotten.
    mutating func tick(at moment: Moment) {
        poison.tick(now: moment.monotonic.nanoseconds)
        memory.forgetIfDue(now: moment.monotonic.nanoseconds)
    }

    /// When the next suspect may be taken up, or the look at what comes first ends; nil for never.
    ///
    /// - Parameter now: The time: what is past waits for something else, which is an event.
    func nextDue(after now: MonotonicTime) -> MonotonicTime? {
        let suspect = poison.due.map { MonotonicTime(nanoseconds: $0) }.flatMap { $0 > now ? $0 : nil }
        guard let idleSince, idleSince + Self.survival > now else { return suspect }
        return min(suspect ?? .distantFuture, idleSince + Self.survival)
    }

    /// When something is to be forgotten, which is not urgent; nil for never.
    var nextForgetting: MonotonicTime? { memory.nextDue.map { MonotonicTime(nanoseconds: $0) } }
}
