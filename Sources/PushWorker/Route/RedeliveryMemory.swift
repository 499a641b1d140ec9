import DequeModule
import EventLoop

/// Recognises a delivery that comes a second time because its channel died before the broker read its acknowledgement.
///
/// A broker that loses a channel delivers everything unacknowledged again, and most of it was pushed already. The jobs
/// of the generation that ended are therefore kept for a while, each under its key:
///
/// - jobs whose answers or confirms are still awaited;
/// - jobs that were settled, whose acknowledgement may have been lost on the way;
/// - jobs that were not sent yet, or went back unsent.
///
/// A redelivery takes over a job of the first two kinds instead of being pushed again. Jobs of the third kind are found
/// first: where a producer published one job twice, the delivery that was not pushed yet must not be taken for the one
/// that was.
///
/// Only jobs of generations that ended here are remembered as pushed. A delivery that another worker lost is therefore
/// always pushed. A delivery that another worker had in between is pushed, too: that worker may have pushed it and
/// died, and the later result then has to say `redelivered`.
///
/// No job can come again while there is no channel. Up to an hour of each such time does not count. Pure: time comes in.
struct RedeliveryMemory<Key: Hashable, Job: Equatable> {
    /// What is known about a delivery marked as redelivered.
    enum Finding {
        /// Nothing, or another worker may have had it in between.
        case unknown
        /// It was not sent: it is a job like any other.
        case unsent
        /// It was settled, and its result is confirmed. Only its acknowledgement is missing.
        case settled
        /// It is still being worked on.
        case unfinished(Job)
    }

    /// How many jobs of ended generations are remembered. The oldest are forgotten first. If a forgotten
    /// job comes again, it is pushed twice.
    static var limit: Int { 4 * RecentSettlements<Key>.capacity }
    /// How many bytes of messages are kept for jobs that are still being worked on.
    static var byteLimit: Int { 32 << 20 }
    /// How long the jobs of an ended generation are remembered. Only time with a channel counts.
    static var lifetime: Duration { RecentSettlements<Key>.lifetime }
    /// How long a lost channel counts as a reason why messages come back. Its messages stand at the front of their
    /// queue, so they come back soon.
    static var lossesLast: Duration { .seconds(60) }
    /// The most lost channels that count: a quorum queue gives up a message that came back more often.
    static var mostLosses: Int { 64 }
    /// The longest time without a channel that does not count. After a longer time, a producer may have published a job
    /// again because it takes the first message for lost. That second message must be pushed.
    static var longestPause: Duration { .seconds(3_600) }

    /// A job of an ended generation that is still being worked on.
    struct Unfinished {
        /// The key by which it is recognised.
        var key: Key
        /// The job.
        var job: Job
        /// The length of its message in bytes.
        var bytes: Int
        /// Where its delivery stands among all deliveries of its message.
        var origin = DeliveryOrigin()
    }

    private struct Known {
        var unsent = 0
        var settled = 0
        var unfinished: [Unfinished] = []
        /// Where its latest delivery stands among all deliveries of its message.
        var origin = DeliveryOrigin()
        /// When the job is forgotten. Only news of the same job, and time without a channel, prolong it.
        var until: MonotonicTime

        var isEmpty: Bool { unsent == 0 && settled == 0 && unfinished.isEmpty }

        /// Notes a delivery that may be later than the one that is known.
        mutating func note(_ delivery: DeliveryOrigin) {
            if delivery.returns >= origin.returns { origin = delivery }
        }
    }

    private var known: [Key: Known] = [:]
    /// Which job was remembered when, oldest first. An entry whose job has a later time, or is forgotten, does not
    /// count.
    private var order = Deque<(key: Key, until: MonotonicTime)>()
    /// When channels with deliveries were lost lately, oldest first.
    private var losses = Deque<MonotonicTime>()
    /// Since when there is no channel; nil while there is one, and before the first one was lost.
    private var pausedAt: MonotonicTime?

    /// The jobs that went back to the broker unsent.
    var givenBack = GivenBackJobs(limit: limit)

    /// Starts with nothing to remember.
    init() {}

    /// How many different jobs of ended generations are remembered.
    var count: Int { known.count }
    /// The length of the messages of all jobs that are still being worked on, in bytes.
    private(set) var bytes = 0

    /// A channel ended: everything unacknowledged may be delivered again, once there is another one.
    ///
    /// - Parameters:
    ///   - settled: Jobs whose acknowledgements were on their way, oldest first.
    ///   - unsent: Jobs of which nothing was sent.
    ///   - unfinished: Jobs that were sent, at least in part, and are not settled yet.
    ///   - now: The time.
    mutating func generationEnded(
        settled: [RecentSettlements<Key>.Settlement] = [], unsent: [Key] = [], unfinished: [Unfinished] = [],
        now: MonotonicTime
    ) {
        forgetIfDue(now: now)
        // Settled jobs come first in the order, because they have less time left than the others.
        for one in settled where now - one.at < Self.lifetime {
            remember(one.key, until: one.at + Self.lifetime) { known in
                known.settled += 1
                known.note(one.origin)
            }
        }
        for key in unsent { remember(key, until: now + Self.lifetime) { $0.unsent += 1 } }
        for one in unfinished {
            bytes += one.bytes
            remember(one.key, until: now + Self.lifetime) { known in
                known.unfinished.append(one)
                known.note(one.origin)
            }
        }
        while order.count > Self.limit || bytes > Self.byteLimit { forgetOldest() }
    }

    /// There is a channel. From now on time counts for the remembered jobs.
    mutating func channelOpened(now: MonotonicTime) {
        guard let since = pausedAt.take(), now > since else { return }
        let pause = min(now - since, Self.longestPause)
        for position in order.indices { order[position].until = order[position].until + pause }
        for (key, one) in known { known[key]?.until = one.until + pause }  // In any order.
    }

    /// The channel is gone.
    ///
    /// - Parameters:
    ///   - delivered: Whether something was delivered on it, so that messages came back because it was lost.
    ///   - now: The time.
    mutating func channelClosed(delivered: Bool = true, now: MonotonicTime) {
        if delivered { losses.append(now) }
        if losses.count > Self.mostLosses { losses.removeFirst() }
        pausedAt = pausedAt ?? now
    }

    private mutating func remember(_ key: Key, until: MonotonicTime, _ change: (inout Known) -> Void) {
        var one = known[key] ?? Known(until: until)
        change(&one)
        one.until = until
        known[key] = one
        order.append((key, until))
    }

    /// A job of an ended generation is settled after all. Only this fact is remembered of the job.
    ///
    /// - Parameters:
    ///   - key: The key by which it is recognised.
    ///   - job: The job.
    ///   - isRemembered: Whether a redelivery may be settled by this fact; false where a copy of the job looks the
    ///     same.
    mutating func finished(_ key: Key, _ job: Job, isRemembered: Bool = true) {
        guard let position = known[key]?.unfinished.firstIndex(where: { $0.job == job }) else { return }
        bytes -= known[key]?.unfinished.remove(at: position).bytes ?? 0
        if isRemembered { known[key]?.settled += 1 }
        if known[key]?.isEmpty == true { known[key] = nil }
    }

    /// A delivery goes back to the broker unsent. When it comes again, it must not be taken for a delivery with the
    /// same key that was settled, or that is settled in the meantime.
    mutating func handedBack(_ key: Key, now: MonotonicTime) {
        remember(key, until: now + Self.lifetime) { $0.unsent += 1 }
        while order.count > Self.limit { forgetOldest() }
    }

    /// Looks up a delivery marked as redelivered. Each remembered job is found only once, because it belongs to one
    /// delivery.
    mutating func redelivered(_ key: Key, as origin: DeliveryOrigin = DeliveryOrigin(), now: MonotonicTime) -> Finding {
        forgetIfDue(now: now)
        guard var found = known[key], !found.isEmpty else { return .unknown }
        let wasElsewhere = origin.wasElsewhere(since: found.origin)
        var finding = Finding.unknown
        if found.unsent > 0 {
            found.unsent -= 1
            finding = .unsent
        } else if let one = found.unfinished.popLast() {
            bytes -= one.bytes
            finding = .unfinished(one.job)
        } else {
            found.settled -= 1
            finding = .settled
        }
        known[key] = found.isEmpty ? nil : found
        return wasElsewhere ? .unknown : finding
    }

    /// Upper bound of how often a message came back lately because this process lost a channel and outlived it.
    func outlivedReturns(now: MonotonicTime) -> Int64 { Int64(losses.count { now - $0 < Self.lossesLast }) }

    /// Whether a delivery may have been sent before, judged by a part of its key.
    mutating func mayKnow(now: MonotonicTime, where isAlike: (Key) -> Bool) -> Bool {
        forgetIfDue(now: now)
        return known.contains { key, found in
            (found.settled > 0 || !found.unfinished.isEmpty) && isAlike(key)
        }
    }

    /// Forgets what has been remembered for long enough, each job after its own time.
    mutating func forgetIfDue(now: MonotonicTime) {
        guard pausedAt == nil else { return }
        while let oldest = order.first, now >= oldest.until { forgetOldest() }
    }

    /// When `forgetIfDue(now:)` has something to do; nil while nothing is remembered, or time does not count.
    var nextDue: MonotonicTime? { pausedAt == nil ? order.first?.until : nil }

    private mutating func forgetOldest() {
        guard let oldest = order.popFirst(), let found = known[oldest.key], found.until <= oldest.until else { return }
        for one in found.unfinished { bytes -= one.bytes }
        known[oldest.key] = nil
    }
}

/// The jobs that this worker gave back to the broker unsent, by the marks of their messages. However often a job had come
/// back by then, it did not end this worker. Remembered as long as the worker lives: a route may be paused for days.
struct GivenBackJobs {
    /// How many jobs are remembered. The oldest is forgotten first, and its returns then count again.
    let limit: Int
    private var known: [UInt64: Int64] = [:]
    private var order = Deque<UInt64>()

    /// Nothing was given back.
    init(limit: Int) { self.limit = limit }

    /// A job goes back.
    ///
    /// - Parameters:
    ///   - mark: The mark of its message (`JournalMark`).
    ///   - returns: How often it had come back before.
    mutating func note(_ mark: UInt64, returns: Int64) {
        if known[mark] == nil {
            order.append(mark)
            if order.count > limit, let oldest = order.popFirst() { known[oldest] = nil }
        }
        known[mark] = max(known[mark] ?? 0, returns + 1)
    }

    /// How many returns of a message do not count, the one that this worker caused last among them; 0 for a message
    /// that it never gave back.
    func returns(of mark: UInt64) -> Int64 { known[mark] ?? 0 }
}
