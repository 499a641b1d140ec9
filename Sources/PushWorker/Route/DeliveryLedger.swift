import DequeModule
import EventLoop
import PushModel

/// The right to settle one delivery, on the channel opening that brought it. Settling uses it up.
struct Receipt: ~Copyable {
    fileprivate let opening: UInt64
    fileprivate let tag: UInt64
}

/// What a route owes the broker for the deliveries of one channel generation, and the jobs they became.
///
/// A delivery can be settled only on the channel opening that delivered it. When the channel ends, nothing is owed any
/// more: the broker delivers unsettled messages again, and their receipts settle nothing. Pure: time comes in,
/// acknowledgements come out.
struct DeliveryLedger {
    /// One method that settles deliveries.
    enum Debt: Equatable {
        /// Acknowledge one delivery or several: nothing is left to do for them.
        case acknowledge(AcknowledgementTracker.Acknowledgement)
        /// Let the broker dead-letter the delivery with this tag.
        case reject(UInt64)
        /// Give the delivery with this tag back, for another worker.
        case requeue(UInt64)
    }

    /// The result of an attempt to send the methods that are owed.
    struct Payment {
        /// How many deliveries the newly decided acknowledgements settle.
        var acknowledged = 0
        /// How many methods were sent.
        var sent = 0
        /// Whether nothing is owed any more; false where the connection had no room.
        var isComplete = true
    }

    private var tracker = AcknowledgementTracker()
    /// The methods to send, oldest first. They wait for room in the consume connection.
    private var debts = Deque<Debt>()
    /// Jobs that are not settled yet.
    private var jobs = SlotTable<JobInFlight>()
    /// The length of the messages of these jobs, in bytes.
    private(set) var bytes = 0
    /// Whether the channel is open, so that deliveries can be settled.
    private(set) var isOpen = false
    /// Which channel opening it is. The next one has another number, also if nothing was delivered on this one.
    private var opening: UInt64 = 0

    /// How many deliveries the present consumers may hold, all together.
    private var granted = 0
    /// The most unacknowledged deliveries that a correct broker can have made; 0 before the first consumer.
    private(set) var mostUnacknowledged = 0

    /// A ledger without a channel.
    init() {}

    /// How many deliveries are not acknowledged yet.
    var unacknowledged: Int { tracker.unacknowledged }
    /// Whether methods wait to be sent.
    var hasDebts: Bool { !debts.isEmpty }
    /// Whether nothing is left to be settled, or there is no channel on which it could be settled.
    var isSettled: Bool { debts.isEmpty && (tracker.unacknowledged == 0 || !isOpen) }
    /// When acknowledgements fall due only because time passes.
    var nextDue: MonotonicTime? { tracker.nextDue }

    // MARK: Generations

    /// The broker opened the channel.
    mutating func begin() { isOpen = true }

    /// The channel is gone, and the broker will deliver its deliveries again.
    ///
    /// - Returns: The jobs that were not settled.
    mutating func end() -> [JobInFlight] {
        let left = jobs.removeAll()
        for job in left { job.slot = nil }
        let next = opening + 1
        self = DeliveryLedger()
        opening = next
        return left
    }

    /// Whether a job's delivery can still be settled.
    func holds(_ job: JobInFlight) -> Bool {
        switch job.receipt {
        case .some(let receipt): isOpen && receipt.opening == opening
        case .none: false
        }
    }

    /// The tag of a delivery that can still be settled; nil for one of an earlier opening, and where there is none.
    private func tag(of receipt: consuming Receipt?) -> UInt64? {
        guard let receipt, receipt.opening == opening else { return nil }
        return receipt.tag
    }

    // MARK: Deliveries

    /// A consumer is asked for: more may be delivered from now on.
    ///
    /// Unacknowledged deliveries of an ended consumer do not count against a new consumer, because AMQP counts for each
    /// consumer separately. Deliveries that an ended consumer was allowed may still be under way: a quorum queue may
    /// deliver while it is asked to end a consumer.
    ///
    /// - Parameters:
    ///   - prefetch: How many deliveries the new consumer may hold.
    ///   - consumers: How many other consumers the channel has, each with the same prefetch.
    mutating func granted(_ prefetch: Int, beside consumers: Int) {
        granted(prefetch, besideMessages: consumers * prefetch)
    }

    /// A consumer is asked for, on a channel whose other consumers may have another prefetch.
    ///
    /// - Parameters:
    ///   - prefetch: How many deliveries the new consumer may hold.
    ///   - present: How many deliveries the other consumers may hold together.
    mutating func granted(_ prefetch: Int, besideMessages present: Int) {
        let underWay = max(0, granted - present)
        granted = present + prefetch
        mostUnacknowledged = tracker.unacknowledged + underWay + granted
    }

    /// Whether more was delivered than any prefetch allowed, which no correct broker does.
    var isOverrun: Bool { tracker.unacknowledged > mostUnacknowledged }

    /// Notes a delivery.
    ///
    /// - Returns: Nil when its tag is not the next one of the channel, which no correct broker sends.
    mutating func delivered(_ tag: UInt64) -> Receipt? {
        tracker.delivered(tag) ? Receipt(opening: opening, tag: tag) : nil
    }

    /// Notes that a delivery became a job, or was taken over by one.
    mutating func took(_ job: JobInFlight) {
        job.slot = jobs.insert(job)
        bytes += job.job.bytes.count
    }

    /// Whether any unsettled job meets a condition. Looks at the unsettled jobs one after the other.
    func contains(where isWanted: (JobInFlight) -> Bool) -> Bool { jobs.contains(where: isWanted) }

    /// Looks at all jobs that are not settled yet.
    func forEach(_ look: (JobInFlight) -> Void) { jobs.forEach(look) }

    /// Everything a job asked for is confirmed: its delivery can be acknowledged.
    mutating func finish(_ job: JobInFlight, at moment: Moment) {
        finish(job.takeReceipt(), at: moment)
        leave(job)
    }

    /// A delivery that became no job needs nothing but its acknowledgement.
    mutating func finish(_ receipt: consuming Receipt?, at moment: Moment) {
        if let tag = tag(of: receipt) { tracker.done(tag, now: moment.monotonic) }
    }

    /// A job goes back to the broker, which is to write its dead letter.
    mutating func reject(_ job: JobInFlight, at moment: Moment) {
        if let tag = tag(of: job.takeReceipt()) {
            tracker.handedBack(tag, now: moment.monotonic)
            debts.append(.reject(tag))
        }
        leave(job)
    }

    /// A job goes back to the broker, for another worker.
    mutating func requeue(_ job: JobInFlight, at moment: Moment) {
        requeue(job.takeReceipt(), at: moment)
        leave(job)
    }

    /// A delivery that became no job goes back to the broker, for another worker.
    mutating func requeue(_ receipt: consuming Receipt?, at moment: Moment) {
        guard let tag = tag(of: receipt) else { return }
        tracker.handedBack(tag, now: moment.monotonic)
        debts.append(.requeue(tag))
    }

    /// Takes a job out of the ledger. This does not settle its delivery.
    mutating func leave(_ job: JobInFlight) {
        guard let slot = job.slot.take() else { return }
        _ = jobs.remove(slot)
        bytes -= job.job.bytes.count
    }

    // MARK: Settling

    /// Decides which deliveries to acknowledge now.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - flush: Whether acknowledgements that could wait for others go out at once.
    /// - Returns: How many deliveries the acknowledgements settle.
    mutating func decide(at moment: Moment, flush: Bool) -> Int {
        let now = moment.monotonic
        let before = tracker.unacknowledged
        if let prefix = tracker.takePrefix(now: now, flush: flush) { debts.append(.acknowledge(prefix)) }
        for straggler in tracker.takeStragglers(now: now, flush: flush) { debts.append(.acknowledge(straggler)) }
        return before - tracker.unacknowledged
    }

    /// The next method to send; it is owed until `paid()`.
    var nextDebt: Debt? { debts.first }

    /// The next method was sent.
    mutating func paid() { debts.removeFirst() }
}
