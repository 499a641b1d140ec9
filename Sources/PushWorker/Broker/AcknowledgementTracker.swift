package import EventLoop

/// Decides which deliveries of one channel generation to acknowledge, and how.
///
/// Delivery tags of a channel count up from 1 (AMQP 0-9-1, basic.deliver). The finished prefix goes out as one
/// `basic.ack` with `multiple`. A delivery that finished behind a slow one is acknowledged singly after a wait. So one
/// silent stream does not hold the whole prefetch window. Pure: time comes in, acknowledgements come out.
package struct AcknowledgementTracker {
    /// One `basic.ack` to send.
    package struct Acknowledgement: Equatable {
        /// The delivery tag to name.
        package var deliveryTag: UInt64
        /// Whether it covers everything not yet acknowledged up to that tag.
        package var multiple: Bool
    }

    private enum State: UInt8 {
        case open, done, acknowledged
    }

    /// A finished prefix of this length goes out at once. A shorter one waits for `flushInterval`.
    package static let batchSize = 64
    /// How long a shorter finished prefix waits for more deliveries to finish.
    package static let flushInterval = Duration.milliseconds(5)
    /// How long a delivery that finished behind an open one waits before it is acknowledged singly.
    package static let stragglerInterval = Duration.milliseconds(50)

    /// The highest tag acknowledged by prefix; `states[head]` belongs to the tag after it.
    private var acknowledgedPrefix: UInt64 = 0
    /// States of the tags after the prefix. A queue: its used front is removed when it outgrows the rest.
    private var states: [State] = []
    private var head = 0
    /// How many tags right after the prefix are finished (done or already acknowledged singly).
    private var finishedPrefix = 0
    /// How many tags beyond the finished prefix are finished and not acknowledged yet.
    private var stragglers = 0
    /// The tags of the stragglers, in the order they finished. Some may have been reached by the prefix since.
    private(set) var stragglerTags: [UInt64] = []
    private var waitingSince: MonotonicTime?

    /// Starts a channel generation: nothing delivered, nothing acknowledged.
    package init() {}

    /// How many deliveries are not acknowledged yet.
    package private(set) var unacknowledged = 0

    /// Records a delivery; tags must arrive in sequence, as the broker sends them.
    ///
    /// - Returns: False when the tag is not the next one of the channel, which no correct broker sends.
    package mutating func delivered(_ tag: UInt64) -> Bool {
        guard tag == acknowledgedPrefix + UInt64(states.count - head) + 1 else { return false }
        states.append(.open)
        unacknowledged += 1
        return true
    }

    /// Records that everything the delivery led to is confirmed. The delivery may be acknowledged now.
    ///
    /// Our own misuse (a tag that is unknown, or settled twice) traps. If we acknowledged an unknown tag, the broker
    /// would close the channel and requeue the whole window.
    package mutating func done(_ tag: UInt64, now: MonotonicTime) {
        precondition(tag > acknowledgedPrefix, "delivery \(tag) was acknowledged before")
        let position = head + Int(tag - acknowledgedPrefix - 1)
        precondition(position < states.count && states[position] == .open, "delivery \(tag) is not open")
        states[position] = .done
        if waitingSince == nil { waitingSince = now }
        if position == head + finishedPrefix {
            finishedPrefix += 1
            while head + finishedPrefix < states.count, states[head + finishedPrefix] != .open {
                if states[head + finishedPrefix] == .done { stragglers -= 1 }
                finishedPrefix += 1
            }
        } else {
            stragglers += 1
            stragglerTags.append(tag)
        }
    }

    /// Records that a delivery was given back or rejected: it needs no acknowledgement any more.
    ///
    /// Our own misuse (a tag that is unknown, or settled before) traps, as in `done(_:now:)`.
    package mutating func handedBack(_ tag: UInt64, now: MonotonicTime) {
        done(tag, now: now)
        let position = head + Int(tag - acknowledgedPrefix - 1)
        states[position] = .acknowledged
        unacknowledged -= 1
        if position >= head + finishedPrefix { stragglers -= 1 }
        if unacknowledged == 0 || (finishedPrefix == 0 && stragglers == 0) { waitingSince = nil }
    }

    /// The acknowledgement of the finished prefix, when it is due or `flush` is set.
    package mutating func takePrefix(now: MonotonicTime, flush: Bool = false) -> Acknowledgement? {
        guard finishedPrefix > 0 else { return nil }
        guard flush || finishedPrefix >= Self.batchSize || isDue(after: Self.flushInterval, now: now)
        else { return nil }
        var newly = 0
        // The broker closes the channel for a tag it no longer knows, so the acknowledgement names the highest tag of
        // the prefix that was not acknowledged singly before.
        var highest: UInt64 = 0
        for position in head..<head + finishedPrefix where states[position] == .done {
            newly += 1
            highest = acknowledgedPrefix + UInt64(position - head) + 1
        }
        head += finishedPrefix
        acknowledgedPrefix += UInt64(finishedPrefix)
        finishedPrefix = 0
        unacknowledged -= newly
        waitingSince = stragglers > 0 ? now : nil
        if stragglers == 0 {
            stragglerTags.removeAll(keepingCapacity: true)
        } else if stragglerTags.count > 64 + 2 * stragglers {
            // Under steady load there is always a straggler. Tags that the prefix has reached must not pile up behind
            // it.
            stragglerTags.removeAll { $0 <= acknowledgedPrefix }
        }
        if head > 4_096, head * 2 > states.count {
            states.removeFirst(head)
            head = 0
        }
        return newly > 0 ? Acknowledgement(deliveryTag: highest, multiple: true) : nil
    }

    /// The tags that finished behind an open delivery, each to be acknowledged singly. All of them are taken once
    /// finished deliveries have waited for `stragglerInterval`, or if `flush` is set.
    package mutating func takeStragglers(now: MonotonicTime, flush: Bool = false) -> [Acknowledgement] {
        guard stragglers > 0, flush || isDue(after: Self.stragglerInterval, now: now) else { return [] }
        var taken: [Acknowledgement] = []
        taken.reserveCapacity(stragglers)
        // The list saves a search from the oldest open delivery. The longer that delivery is open, the longer such a
        // search takes.
        for tag in stragglerTags where tag > acknowledgedPrefix + UInt64(finishedPrefix) {
            let position = head + Int(tag - acknowledgedPrefix - 1)
            guard states[position] == .done else { continue }
            states[position] = .acknowledged
            taken.append(Acknowledgement(deliveryTag: tag, multiple: false))
        }
        stragglerTags.removeAll(keepingCapacity: true)
        stragglers = 0
        unacknowledged -= taken.count
        waitingSince = finishedPrefix > 0 ? waitingSince : nil
        return taken
    }

    private func isDue(after interval: Duration, now: MonotonicTime) -> Bool {
        waitingSince.map { now >= $0 + interval } ?? false
    }

    /// When the next acknowledgement falls due; nil when nothing waits.
    package var nextDue: MonotonicTime? {
        waitingSince.map { $0 + (finishedPrefix > 0 ? Self.flushInterval : Self.stragglerInterval) }
    }
}
