internal import EventLoop

/// What one route on one lane uses of the worker's memory for jobs; each of its queues has the same.
///
/// A route that fills its prefetch asks for what its connections could take. One that has not for a while asks for nothing,
/// and gives back what it was lent, as soon as it holds no more than its part. Time comes in.
struct MemoryClaim {
    /// What is to be known of a route for that.
    struct Use {
        /// What its connections could take from each queue, in bytes; 0 while it wants no more than its part.
        var demand = 0
        /// Whether its prefetch is used.
        var isFull = false
        /// What each queue has delivered, or may have before a smaller prefetch counts, in bytes.
        var held = 0
    }

    /// For how long a route is taken to need what it used; it gives it back after twice that time at most.
    static let patience = Duration.seconds(30)
    /// How often a route looks whether it holds little enough to give something back.
    static let cedingInterval = Duration.seconds(1)

    private let budget: SharedMemoryBudget
    private let queues: Int
    /// The power of two that each queue asks for; nil for nothing.
    private var asked: Int?
    /// What each queue has lent, in bytes.
    private(set) var lent = 0
    /// When it is looked at whether the prefetch was used meanwhile; nil while nothing is asked for.
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

    /// What each queue is to have lent.
    private var allowed: Int { asked.map { min(1 << $0, budget.level) } ?? 0 }

    /// Whether it is to give something back.
    private var isCeding: Bool { allowed < lent }

    /// Asks for more or for less, takes what it can get and gives back what it must.
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

    private mutating func ask(for exponent: Int?) {
        // The average size of messages moves a little all the time: half of what was asked for is no news.
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
