import EventLoop

/// The share of the worker's memory for jobs that one route on one lane uses. Each queue of the route has the same
/// share.
///
/// A route that uses its prefetch asks for as much as its connections could take. A route that has not used its
/// prefetch for a while asks for nothing. Such a route gives back the memory that it was lent as soon as it holds no
/// more than its part. Time comes in.
struct MemoryClaim {
    /// The facts about a route that decide what it asks for.
    struct Use {
        /// How much its connections could take from each queue, in bytes; 0 while the route wants no more than its
        /// part.
        var demand = 0
        /// Whether the route uses its prefetch: at least half of it (`RoutePrefetch`).
        var isFull = false
        /// How much each queue has delivered, or may deliver before a smaller prefetch counts, in bytes.
        var held = 0
    }

    /// How long a route counts as needing the memory that it used. The route stops asking for the memory at most twice
    /// this time after its last use.
    static let patience = Duration.seconds(30)
    /// How often a route looks whether it holds little enough to give something back.
    static let cedingInterval = Duration.seconds(1)

    private let budget: SharedMemoryBudget
    private let queues: Int
    /// The power of two that each queue asks for; nil for nothing.
    private var asked: Int?
    /// How much each queue is lent, in bytes.
    private(set) var lent = 0
    /// When the route next looks whether its prefetch was used meanwhile; nil while it asks for nothing.
    private var reviewAt: MonotonicTime?
    private var isUsed = false

    /// Starts with the part that every queue has.
    ///
    /// - Parameters:
    ///   - budget: The worker's memory for jobs.
    ///   - queues: How many queues the route has.
    init(_ budget: SharedMemoryBudget, queues: Int) {
        self.budget = budget
        self.queues = max(1, queues)
    }

    /// What each queue may hold, in bytes.
    var share: Int { budget.part + min(lent, allowed) }

    /// How much each queue is to be lent, in bytes.
    private var allowed: Int { asked.map { min(1 << $0, budget.level) } ?? 0 }

    /// Whether the route is to give memory back.
    private var isCeding: Bool { allowed < lent }

    /// Asks for more or for less memory, takes what is free, and gives back what it must.
    mutating func follow(_ use: Use, now: MonotonicTime) {
        let excess = use.demand - budget.part
        if use.isFull, excess > 0 {
            isUsed = true
            if reviewAt == nil { reviewAt = now + Self.patience }
        }
        if let due = reviewAt, now >= due {
            reviewAt = isUsed ? now + Self.patience : nil
            isUsed = false
        }
        if excess <= 0 { reviewAt = nil }
        ask(for: reviewAt == nil ? nil : MemoryBudget.exponent(covering: excess))
        let allowed = allowed
        if allowed > lent {
            guard MemoryBudget.powerOfTwo(within: lent + budget.free / queues) > lent else { return }
            lent = budget.lend(allowed, insteadOf: lent, queues: queues)
        } else if allowed < lent, use.held <= budget.part + allowed {
            lent = budget.lend(allowed, insteadOf: lent, queues: queues)
        }
    }

    /// Gives back everything: the route ends.
    mutating func release() {
        reviewAt = nil
        ask(for: nil)
        lent = budget.lend(0, insteadOf: lent, queues: queues)
    }

    private mutating func ask(for exponent: Int?) {
        // The average size of messages changes a little all the time. A demand for half as much is not worth a change.
        if let asked, let exponent, exponent == asked - 1 { return }
        guard exponent != asked else { return }
        budget.ask(for: exponent, insteadOf: asked, queues: queues)
        asked = exponent
    }

    /// When `follow(_:now:)` has something to do only because time passed; nil for never.
    ///
    /// - Parameter now: The time.
    func nextDue(after now: MonotonicTime) -> MonotonicTime? { isCeding ? now + Self.cedingInterval : reviewAt }
}
