internal import EventLoop

/// Decides when a route that is stopped looks into its queues for jobs whose time has passed.
///
/// Such a route consumes nothing, so that deadlines would pass in its queues without a result. A look asks for a small
/// window of jobs. What has expired is reported and makes room for more; the rest goes into the retry tiers, because
/// giving it back to the queue would count as a return, and ten of those make poison of it. A look that found something
/// is followed by the next at once, so that a queue of expired jobs drains; otherwise the route rests. The looks of a
/// parked route end before its next probe. Pure: time and randomness come in.
struct ExpiryLook {
    /// How many jobs of each queue a look asks for at most.
    static let window = 100
    /// How long a route rests after a look that found nothing, give or take a fifth.
    static let rest = Duration.seconds(60)
    /// How long a look waits for another job.
    static let quietTime = Duration.seconds(2)
    /// How long a look takes at most.
    static let longestLook = Duration.seconds(10)
    /// How long before the next probe a look ends: its consumers are cancelled until then.
    static let probeMargin = Duration.seconds(5)
    /// The priority of a look's consumers: jobs are for workers that can push them, whose consumers have 0.
    static let consumerPriority: Int64 = -10

    /// What the next step depends on.
    struct Situation {
        /// Whether the route has been stopped for so long that it gave its jobs back, and nothing forbids a look.
        var mayLook = false
        /// When the route probes; nil where it does not.
        var probeAt: MonotonicTime?
        /// Whether each queue is consumed.
        var isConsuming = false
        /// Whether deliveries can still arrive.
        var mayReceive = false
        /// How many deliveries there were so far.
        var delivered = 0
        /// How many jobs stay here, because no tier brings them back in their time.
        var waiting = 0
        /// How many deliveries are not acknowledged.
        var unacknowledged = 0
    }

    private enum Phase {
        /// No look.
        case resting
        /// Jobs are asked for, until the given time at the latest.
        case looking(until: MonotonicTime)
        /// The look is over, and its consumers are being cancelled.
        case ending
    }

    private var phase = Phase.resting
    private var restEnd = MonotonicTime(nanoseconds: 0)
    private var quietSince = MonotonicTime(nanoseconds: 0)
    private var delivered = 0
    private var hasFound = false
    private var mayLook = false
    private var isForbidden = false

    /// Whether there was a look since the route stopped, and it still looks after the jobs that it has.
    private(set) var hasBegun = false
    /// Whether jobs are asked for.
    var isLooking: Bool { if case .looking = phase { true } else { false } }
    /// Whether the consumers of a look are to be cancelled before there are any others.
    var isEnding: Bool { if case .ending = phase { true } else { false } }

    /// Whether nothing of the last look is left that the next one would add to.
    private func isClear(_ situation: Situation) -> Bool {
        !situation.mayReceive && situation.waiting < Self.window && situation.unacknowledged <= situation.waiting
    }

    /// Begins a look, or ends one, where it is time.
    ///
    /// - Parameters:
    ///   - situation: What it depends on.
    ///   - now: The time.
    ///   - random: For the length of the rest, which keeps workers apart.
    mutating func next(_ situation: Situation, now: MonotonicTime, random: inout some RandomNumberGenerator) {
        mayLook = situation.mayLook && !isForbidden
        switch phase {
        case .resting:
            let time = min(Self.longestLook, situation.probeAt.map { $0 - now - Self.probeMargin } ?? Self.longestLook)
            guard mayLook, hasFound || now >= restEnd, isClear(situation), time >= Self.quietTime else { return }
            phase = .looking(until: now + time)
            hasBegun = true
            hasFound = false
            quietSince = now
            delivered = situation.delivered
        case .looking(let end):
            if situation.delivered != delivered || !situation.isConsuming {
                delivered = situation.delivered
                quietSince = now
            }
            guard !mayLook || now >= end || now >= quietSince + Self.quietTime else { return }
            phase = situation.mayReceive ? .ending : .resting
            restEnd = now + Self.rest * Double.random(in: 0.8...1.2, using: &random)
        case .ending:
            if !situation.mayReceive { phase = .resting }
        }
    }

    /// A job was reported as expired: there may be more of them.
    mutating func found() { hasFound = true }

    /// A job came back so often that it is taken up alone: given back by each look it would soon be poison, so that there
    /// is no look until the route works again.
    mutating func forbid() {
        isForbidden = true
        hasBegun = false
    }

    /// The route works again.
    mutating func routeWorks() {
        hasBegun = false
        hasFound = false
        isForbidden = false
        restEnd = MonotonicTime(nanoseconds: 0)
    }

    /// When `next` has something to do only because time passed; nil for never.
    ///
    /// - Parameter now: The time: a rest that is over waits for something else.
    func nextDue(after now: MonotonicTime) -> MonotonicTime? {
        switch phase {
        case .resting: mayLook ? max(hasFound ? now : restEnd, now + Route.patrolInterval) : nil
        case .looking(let end): min(end, quietSince + Self.quietTime)
        case .ending: nil
        }
    }
}
