internal import PushModel

/// One delivery that is being worked on, until it is acknowledged.
///
/// Its job owns the message's single buffer. Confined to its lane. A job with one token touches no array; a multicast
/// job gathers retries and dead letters by index until all its notifications are settled.
final class JobInFlight {
    /// Indexes that share one retry copy, or one dead letter.
    struct Group {
        /// What is published for these indexes.
        let purpose: Purpose
        /// Positions in `device_tokens`, in the order they were settled.
        var indexes: [Int]
    }

    /// What a group publishes once.
    enum Purpose: Equatable {
        /// One retry copy per tier and attempt, those apart that only wait and were not attempted.
        case retry(tier: Int, attempt: Int, wasAttempted: Bool = true)
        /// One dead letter per outcome and reason; the rest is that of the first index.
        case deadLetter(FinalReport)

        /// The publication for some indexes; nil means all of the job's.
        func content(for indexes: [Int]?) -> Publication.Content {
            switch self {
            case .retry(let tier, let attempt, let wasAttempted):
                .retry(tier: tier, attempt: attempt, indexes: indexes, wasAttempted: wasAttempted)
            case .deadLetter(let report): .deadLetter(report, indexes: indexes)
            }
        }

        /// Whether two purposes share one message.
        func joins(_ other: Purpose) -> Bool {
            switch (self, other) {
            case (.retry, .retry): self == other
            case (.deadLetter(let one), .deadLetter(let two)): one.outcome == two.outcome && one.reason == two.reason
            default: false
            }
        }
    }

    /// What it asks for, as far as it could be read.
    let job: Job
    /// Why it is refused as a whole; nil for a job that can be worked on.
    @Boxed private(set) var refusal: FinalReport?
    /// The delivery's tag on its channel.
    private(set) var deliveryTag: UInt64
    /// The channel opening that delivered it; it is acknowledged on this one only.
    private(set) var generation: UInt32
    /// Where the delivery stands among all there were of its message.
    private(set) var origin: DeliveryOrigin
    /// The delivery that another lane lent it, after its own channel was gone; nil for nearly every job.
    @Boxed private(set) var lent: DeliveryOnLane?
    /// Whether the broker may have delivered it before, here or elsewhere: results and copies say so.
    private(set) var isRedelivered: Bool
    /// Its properties in wire form, as a range of `job.bytes`.
    @Packed private(set) var properties: Range<Int>
    /// Milliseconds since 1970 when it arrived here.
    let receivedAt: Int64

    /// Where the search for the next notification to send starts.
    private var cursor = 0
    /// Notifications that have no settlement yet.
    private(set) var unsettled: Int
    /// Publications that are not confirmed yet.
    private(set) var unconfirmed = 0
    /// The retry copies and dead letters of a multicast job, published when all its notifications are settled, or of
    /// a job whose channel is gone, published when it is delivered again.
    private(set) var groups: [Group] = []
    /// Milliseconds since 1970 when its latest notification was settled.
    private(set) var settledAt: Int64?
    /// Whether the broker is to write the dead letter (`basic.reject`), because the worker cannot.
    var isRejected = false
    /// Whether a copy of all of it comes back with the same attempt, which must not be taken for this delivery.
    var comesBackUnchanged = false
    /// The indexes below this one had been handed out when the broker delivered it again.
    private var suppressedEnd = 0
    /// Those of them that were, or will be, sent again since.
    private var resent: Set<Int> = []
    /// The `message_id` of the result of its first notification, once that was rendered.
    var resultID: UUIDBytes?
    /// What a redelivery is recognised by, once that was asked for.
    var knownKey: RedeliveryKey?
    /// What the journal knows its message by; made once, and only with a journal on.
    private(set) lazy var journalMark = JournalMark.make(job.bytes, body: job.body, id: job.jobID)
    /// Its place among the route's open deliveries; nil once it is settled or its channel is gone.
    var slot: Int?
    /// Notifications to send again, should the delivery come again: its channel was gone when they wanted to.
    private var postponed: [(index: Int, resends: Int)] = []

    /// Starts work on a delivery.
    init(
        job: consuming Job, refusal: FinalReport?, deliveryTag: UInt64, generation: UInt32, properties: Range<Int>,
        receivedAt: Int64, origin: DeliveryOrigin = DeliveryOrigin()
    ) {
        isRedelivered = job.redelivered
        unsettled = refusal == nil ? job.notificationCount : max(1, job.notificationCount)
        self.job = job
        self.refusal = refusal
        self.deliveryTag = deliveryTag
        self.generation = generation
        self.origin = origin
        self.properties = properties
        self.receivedAt = receivedAt
    }

    /// Whether nothing is left to do but to acknowledge.
    var isFinished: Bool { unsettled == 0 && unconfirmed == 0 }

    /// The next notification that was not handed out yet; nil when all were.
    func nextIndex() -> Int? {
        guard let index = job.nextIndex(from: cursor) else { return nil }
        cursor = index + 1
        return index
    }

    /// How many notifications were not handed out yet; an upper bound for a job about some indexes only.
    var unsent: Int { max(0, job.tokenCount - cursor) }

    /// Whether notifications are left to hand out.
    var hasMore: Bool { job.nextIndex(from: cursor) != nil }

    /// Whether some notification was handed out already.
    var isStarted: Bool { cursor > 0 }

    /// One notification has its settlement.
    func settled(at wallClock: Int64) {
        unsettled -= 1
        settledAt = wallClock
    }

    /// A publication was queued.
    func owes() { unconfirmed += 1 }

    /// A publication was confirmed.
    func confirmed() { unconfirmed -= 1 }

    /// Whether everything it asked for was carried out, and nothing waits for its delivery to come again.
    var isComplete: Bool { isFinished && groups.isEmpty && postponed.isEmpty }

    /// The broker delivered it again, on a channel that is open: from now on that delivery is worked on. Another worker
    /// may have had it meanwhile.
    func redelivered(as delivery: JobInFlight) {
        deliveryTag = delivery.deliveryTag
        generation = delivery.generation
        lent = nil
        goOn(as: delivery.origin)
    }

    /// The broker delivered it again, to another lane, which lends it that delivery.
    func redelivered(as delivery: DeliveryOnLane) {
        lent = delivery
        goOn(as: delivery.origin)
    }

    /// The delivery that was lent is gone, or was given back.
    func losesLent() { lent = nil }

    private func goOn(as origin: DeliveryOrigin) {
        self.origin = origin
        isRedelivered = true
        suppressedEnd = cursor
        resent = Set(postponed.map(\.index))
    }

    /// Whether the broker delivered a notification again and nothing was pushed for that: a result written from then on
    /// says so.
    func isSuppressed(_ index: Int) -> Bool { index < suppressedEnd && !resent.contains(index) }

    /// A notification is sent again, its channel being open.
    func resends(_ index: Int) {
        if index < suppressedEnd { resent.insert(index) }
    }

    /// A notification wants to be sent again, but the job's channel is gone.
    func postpone(_ notification: Notification) {
        postponed.append((notification.index, notification.resends))
    }

    /// Takes out the notifications that were postponed.
    func takePostponed() -> [Notification] {
        defer { postponed.removeAll() }
        return postponed.map { Notification(job: self, index: $0.index, resends: $0.resends) }
    }

    /// Takes out the groups, each to be published once.
    func takeGroups() -> [Group] {
        defer { groups.removeAll() }
        return groups
    }

    /// Adds an index to the message it will share with others.
    func gather(_ purpose: Purpose, index: Int) {
        if let position = groups.firstIndex(where: { $0.purpose.joins(purpose) }) {
            groups[position].indexes.append(index)
        } else {
            groups.append(Group(purpose: purpose, indexes: [index]))
        }
    }
}
