import EventLoop

/// Decides when a stopped route looks into its queues for expired jobs.
///
/// A stopped route consumes nothing, so deadlines would pass in its queues without a result.
///
/// - A look asks for a small window of jobs.
/// - Expired jobs are reported and make room for more.
/// - Other jobs go into the retry tiers. Giving them back to the queue would count as a return, and twenty returns
///   make a job poison.
/// - A look that found something is followed by the next at once, so that a queue of expired jobs drains. Otherwise the
///   route rests.
/// - The looks of a parked route end before its next probe.
///
/// Pure: time and randomness come in.
struct ExpiryLook {
    /// How many jobs of each queue a look asks for at most.
    static let window = 100
    /// How long a route rests after a look that found nothing, give or take a fifth.
    static let rest = Duration.seconds(60)
    /// How long a look waits for another job.
    static let quietTime = Duration.seconds(2)
    /// How long a look takes at most.
    static let longestLook = Duration.seconds(10)
    /// How long before the next probe a look ends, so that its consumers are cancelled by then.
    static let probeMargin = Duration.seconds(5)
    /// The priority of a look's consumers. Workers that can push consume with 0, so they get jobs first.
    static let consumerPriority: Int64 = -10

    /// What the next step depends on.
    struct Situation {
        /// Whether the route has been stopped for so long that it gave its jobs back, and nothing forbids a look.
        var mayLook = false
        /// When the route probes; nil if it does not.
        var probeAt: MonotonicTime?
        /// Whether each queue is consumed.
        var isConsuming = false
        /// Whether deliveries can still arrive.
        var mayReceive = false
        /// How many deliveries there were so far.
        var delivered = 0
        /// How many jobs and resends wait on stopped hosts: jobs not sorted out yet, jobs that no tier brings back in
        /// time, and a job for the next probe.
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

    /// Whether the route has looked since it stopped, and still sorts out the jobs that it got.
    private(set) var hasBegun = false
    /// Whether jobs are asked for.
    var isLooking: Bool { if case .looking = phase { true } else { false } }
    /// Whether the consumers of a look must be cancelled before there are any others.
    var isEnding: Bool { if case .ending = phase { true } else { false } }

    /// Whether the jobs that the last look left are too few to add up with the jobs of the next look.
    private func isClear(_ situation: Situation) -> Bool {
        !situation.mayReceive && situation.waiting < Self.window && situation.unacknowledged <= situation.waiting
    }

    /// Begins or ends a look when it is time.
    ///
    /// - Parameters:
    ///   - situation: What the step depends on.
    ///   - now: The time.
    ///   - random: Varies the length of the rest, so that workers do not look at the same time.
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

    /// A job was reported as expired. There may be more of them.
    mutating func found() { hasFound = true }

    /// A job came back so often that it is taken up alone. Each look would give the job back and soon make it poison.
    /// So there is no look until the route works again.
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
    /// - Parameter now: The time. A route whose rest is over waits for something else. It is looked at again after
    ///   `Route.patrolInterval`.
    func nextDue(after now: MonotonicTime) -> MonotonicTime? {
        switch phase {
        case .resting: mayLook ? max(hasFound ? now : restEnd, now + Route.patrolInterval) : nil
        case .looking(let end): min(end, quietSince + Self.quietTime)
        case .ending: nil
        }
    }
}
