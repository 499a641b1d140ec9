package import EventLoop

/// Decides when the broker has owed an answer, such as a confirm, for so long that its connection is given up.
///
/// A broker that answers heartbeats and confirms nothing would hold its worker for ever. Therefore unconfirmed messages
/// are published again, as the same messages, on another connection. The patience doubles while another connection does
/// not help, because a queue without its majority confirms nothing on any connection. Pure: time comes in.
package struct ConfirmPatience: Sendable {
    /// The usual patience: far above what a busy disk or a new leader of a queue takes.
    package static let usual = Duration.seconds(30)
    /// How often it usually doubles at most: to eight minutes.
    package static let mostDoublings = 4
    /// How long, beyond the present patience, there must be no trouble before the patience is the usual one again.
    static let memory = Duration.seconds(600)

    /// The patience without trouble.
    package let usual: Duration
    private let mostDoublings: Int
    /// How often it has run out since it was last the usual one, at most `mostDoublings`.
    private(set) var doublings = 0
    /// When it ran out last.
    private var ranOutAt: MonotonicTime?
    /// The latest time at which the broker was known not to read.
    private var excusedUntil = MonotonicTime(nanoseconds: 0)

    /// Patience that never ran out.
    ///
    /// - Parameters:
    ///   - usual: The usual patience.
    ///   - mostDoublings: How often it doubles at most.
    package init(usual: Duration = ConfirmPatience.usual, mostDoublings: Int = ConfirmPatience.mostDoublings) {
        self.usual = usual
        self.mostDoublings = mostDoublings
    }

    private var present: Duration { usual * (1 << doublings) }

    /// The broker does not read now, or reads again from now on. Its time for answers starts anew.
    package mutating func excused(now: MonotonicTime) { excusedUntil = now }

    /// When the patience runs out.
    ///
    /// - Parameter oldest: Since when the broker has owed its oldest answer; nil if it owes none.
    package func due(oldest: MonotonicTime?) -> MonotonicTime? {
        oldest.map { max($0, excusedUntil) + present }
    }

    /// Whether the patience has run out. If so, the next one is longer.
    ///
    /// - Parameters:
    ///   - oldest: Since when the broker has owed its oldest answer; nil if it owes none.
    ///   - now: The time.
    package mutating func runsOut(oldest: MonotonicTime?, now: MonotonicTime) -> Bool {
        if let last = ranOutAt, now >= last + Self.memory + present {
            doublings = 0
            ranOutAt = nil
        }
        guard let due = due(oldest: oldest), now >= due else { return false }
        doublings = ranOutAt == nil ? 1 : min(mostDoublings, doublings + 1)
        ranOutAt = now
        return true
    }
}
