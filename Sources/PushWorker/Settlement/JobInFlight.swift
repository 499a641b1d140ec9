import PushModel
import Text

/// The right to settle one notification of a job. The job hands out each once (``JobInFlight/next()``).
struct Notification {
    /// The job it belongs to.
    let job: JobInFlight
    /// Its position in `device_tokens`; 0 for a job with one token.
    let index: Int
    /// How often it was sent again without costing an attempt.
    var resends = 0
    /// How often APNs said that it did not process the notification.
    var refusals = 0

    fileprivate init(job: JobInFlight, index: Int) { (self.job, self.index) = (job, index) }

    /// Whether it was sent before in the present attempt.
    var wasSent: Bool { resends > 0 || refusals > 0 }

    /// Whether it is its job's only notification and nothing was published for it yet.
    var isUntouched: Bool { !job.job.isMulticast && job.unsettled == 1 && job.unconfirmed == 0 }
}

/// The jobs that wait for one message: none of them may be acknowledged before the broker has the message.
///
/// A job makes one when something of it goes into a message. The message keeps it while it is refused, returned or lost, and
/// goes out again with it. The final fate uses it up: the broker's confirm, or what is published in the message's place. A
/// message that is dropped keeps its jobs unacknowledged, so the broker delivers them again.
struct Obligation: ~Copyable {
    /// The first of the jobs.
    let job: JobInFlight
    /// How much of the first job is in the message: results, or one copy.
    private var count = 1
    /// The other jobs of a batch, in the order of their results.
    private var others: [(job: JobInFlight, count: Int)] = []

    fileprivate init(_ job: JobInFlight) {
        self.job = job
        job.unconfirmed += 1
    }

    /// Another result joins the message.
    ///
    /// - Parameter job: The job of the result.
    mutating func add(_ job: JobInFlight) {
        job.unconfirmed += 1
        if others.isEmpty, job === self.job {
            count += 1
        } else if others.last?.job === job {
            others[others.count - 1].count += 1
        } else {
            others.append((job, 1))
        }
    }

    /// The message has its final fate, and what is published in its place has obligations of its own.
    ///
    /// - Parameter each: Hears of each job, with how much of it was in the message.
    consuming func fulfil(_ each: (_ job: JobInFlight, _ count: Int) -> Void) {
        job.unconfirmed -= count
        each(job, count)
        for (job, count) in others {
            job.unconfirmed -= count
            each(job, count)
        }
    }
}

/// One delivery that is being worked on, until it is acknowledged.
///
/// The job owns the message's single buffer. Confined to its lane. A job with one token uses no array. A multicast job
/// gathers retries and dead letters by index until all its notifications are settled.
final class JobInFlight {
    /// Indexes that share one retry copy, or one dead letter.
    struct Group {
        /// The publication for these indexes.
        let purpose: Purpose
        /// Positions in `device_tokens`, in the order they were settled.
        var indexes: [Int]
        /// Since when APNs knows that the device token is dead, where it says so: by index, in milliseconds since 1970.
        var invalidSince: [Int: Int64] = [:]

        /// The content of the publication, for a job with `tokenCount` device tokens.
        func content(tokenCount: Int) -> Publication.Content {
            let sorted = indexes.sorted()
            let indexes = sorted.count >= tokenCount ? nil : sorted
            guard !invalidSince.isEmpty, case .deadLetter(let report) = purpose else {
                return purpose.content(for: indexes)
            }
            return .deadLetter(report, indexes: indexes, invalidSince: sorted.map { invalidSince[$0] ?? 0 })
        }
    }

    /// The publication that a group makes once.
    enum Purpose: Equatable {
        /// One retry copy per tier and attempt. Notifications that only wait, without an attempt, get a copy of their
        /// own.
        case retry(tier: Int, attempt: Int, wasAttempted: Bool = true)
        /// One dead letter per outcome, reason and action. The rest of its report is that of the first index.
        case deadLetter(FinalReport)

        /// The content of the publication for some indexes; nil means all of the job's.
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
            case (.deadLetter(let one), .deadLetter(let two)):
                one.outcome == two.outcome && one.reason == two.reason && one.action == two.action
            default: false
            }
        }
    }

    /// The decoded job, as far as the message could be read.
    let job: Job
    /// Why the whole job is refused; nil for a job that can be worked on.
    @Boxed private(set) var refusal: FinalReport?
    /// The right to settle the delivery; nil once it was used.
    private(set) var receipt: Receipt?
    /// Where the delivery stands among all deliveries of its message.
    private(set) var origin: DeliveryOrigin
    /// Whether the broker may have delivered the message before, here or elsewhere. Results and copies say so.
    private(set) var isRedelivered: Bool
    /// The properties of the message in wire form, as a range of `job.bytes`.
    @Packed private(set) var properties: Range<Int>
    /// Milliseconds since 1970 when the job arrived here.
    let receivedAt: Int64

    /// The index at which the search for the next notification to send starts.
    private var cursor = 0
    /// How many notifications have no settlement yet.
    private(set) var unsettled: Int
    /// The notifications that have one.
    private var settled = IndexBits()
    /// How much of the job is in messages that are not confirmed yet.
    fileprivate(set) var unconfirmed = 0
    /// Retry copies and dead letters that are published later. A multicast job publishes them once all its
    /// notifications are settled. A job whose channel is gone publishes them once the broker delivers it again.
    private(set) var groups: [Group] = []
    /// Milliseconds since 1970 when its latest notification was settled.
    private(set) var settledAt: Int64?
    /// Whether the broker writes the dead letter (`basic.reject`), because the worker cannot.
    var isRejected = false
    /// Whether the whole job goes into a tier because its time has not come. The copy in the tier is not a retry.
    var isHeld = false
    /// Whether a copy of the whole job comes back with the same attempt. The copy must not be taken for this delivery.
    var comesBackUnchanged = false
    /// Notifications below this index had been handed out when the broker delivered the job again.
    private var suppressedEnd = 0
    /// Notifications below `suppressedEnd` that have been sent again since, or will be.
    private var resent: Set<Int> = []
    /// The `message_id` of the first notification's result, once that result was rendered.
    var resultID: UUIDBytes?
    /// The `redeliveryKey`, once it was computed.
    var knownKey: RedeliveryKey?
    /// The message's mark. Computed on first use: with a journal, or when the job goes back unsent.
    private(set) lazy var journalMark = JournalMark.make(job.bytes, body: job.body, id: job.jobID)
    /// The job's place among the route's open deliveries; nil once the job is settled or its channel is gone.
    var slot: Int?
    /// Notifications to send again if the broker delivers the job again. They were due while the job's channel was
    /// gone.
    private var postponed: [(index: Int, resends: Int)] = []

    /// Starts work on a delivery.
    init(
        job: consuming Job, refusal: FinalReport?, receipt: consuming Receipt?, properties: Range<Int>,
        receivedAt: Int64, origin: DeliveryOrigin = DeliveryOrigin()
    ) {
        isRedelivered = job.redelivered
        unsettled = refusal == nil ? job.notificationCount : max(1, job.notificationCount)
        self.job = job
        self.refusal = refusal
        self.receipt = receipt
        self.origin = origin
        self.properties = properties
        self.receivedAt = receivedAt
    }

    /// Whether nothing is left to do but to acknowledge.
    var isFinished: Bool { unsettled == 0 && unconfirmed == 0 }

    /// Hands out the right to settle the delivery, once.
    func takeReceipt() -> Receipt? { receipt.take() }

    /// Hands out the next notification; nil when all were. A refused job of which no notification could be read has one
    /// nevertheless, so that the job gets a result.
    func next() -> Notification? {
        let stand = refusal != nil && cursor == 0 ? 0 : nil
        guard let index = job.nextIndex(from: cursor) ?? stand else { return nil }
        cursor = index + 1
        return Notification(job: self, index: index)
    }

    /// How many notifications were not handed out yet; an upper bound for a job about some indexes only.
    var unsent: Int { max(0, job.tokenCount - cursor) }

    /// Whether notifications are left to hand out.
    var hasMore: Bool { job.nextIndex(from: cursor) != nil }

    /// Whether some notification was handed out already.
    var isStarted: Bool { cursor > 0 }

    /// A notification gets its settlement.
    ///
    /// - Returns: False where it had one already. Then nothing may follow: another notification of the job would never
    ///   be settled, or the job would be acknowledged before that.
    func settle(_ notification: Notification, at wallClock: Int64) -> Bool {
        guard settled.insert(notification.index) else { return false }
        unsettled -= 1
        settledAt = wallClock
        return true
    }

    /// Something of the job goes into a message.
    func owe() -> Obligation { Obligation(self) }

    /// Whether the job is finished, and nothing of it waits for another delivery.
    var isComplete: Bool { isFinished && groups.isEmpty && postponed.isEmpty }

    /// The broker delivered the job again on an open channel. The job goes on with the new delivery. Another worker may
    /// have had the message in between.
    func redelivered(as delivery: JobInFlight) {
        receipt = delivery.takeReceipt()
        origin = delivery.origin
        isRedelivered = true
        suppressedEnd = cursor
        resent = Set(postponed.map(\.index))
    }

    /// Whether a notification was delivered again and not pushed again. A result written after the redelivery says so.
    func isSuppressed(_ index: Int) -> Bool { index < suppressedEnd && !resent.contains(index) }

    /// A notification is sent again while the job's channel is open.
    func resends(_ index: Int) {
        if index < suppressedEnd { resent.insert(index) }
    }

    /// A notification is to be sent again, but the job's channel is gone.
    func postpone(_ notification: Notification) {
        postponed.append((notification.index, notification.resends))
    }

    /// Takes out the notifications that were postponed.
    func takePostponed() -> [Notification] {
        defer { postponed.removeAll() }
        return postponed.map { index, resends in
            var again = Notification(job: self, index: index)
            again.resends = resends
            return again
        }
    }

    /// Takes out the groups. Each is published once.
    func takeGroups() -> [Group] {
        defer { groups.removeAll() }
        return groups
    }

    /// Adds an index to the group for the same message, or to a new group.
    func gather(_ purpose: Purpose, index: Int) {
        let known = groups.firstIndex { $0.purpose.joins(purpose) }
        if known == nil { groups.append(Group(purpose: purpose, indexes: [])) }
        let position = known ?? groups.count - 1
        groups[position].indexes.append(index)
        if case .deadLetter(let report) = purpose { groups[position].invalidSince[index] = report.tokenInvalidSince }
    }
}

extension JobInFlight: Equatable {
    static func == (one: JobInFlight, other: JobInFlight) -> Bool { one === other }
}

/// Positions in `device_tokens`: a bit for each, without an allocation for the first 64.
private struct IndexBits {
    private var first: UInt64 = 0
    private var rest: [UInt64] = []

    /// Adds a position.
    ///
    /// - Returns: Whether it was not there.
    mutating func insert(_ index: Int) -> Bool {
        let bit = UInt64(1) << (index & 63)
        guard index >= 64 else {
            defer { first |= bit }
            return first & bit == 0
        }
        let word = index / 64 - 1
        if word >= rest.count { rest += [UInt64](repeating: 0, count: word + 1 - rest.count) }
        defer { rest[word] |= bit }
        return rest[word] & bit == 0
    }
}
