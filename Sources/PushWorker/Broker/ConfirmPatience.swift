package import EventLoop

/// Decides when a confirm, or an open channel, has been awaited for so long that its connection is to be given up.
///
/// A broker that answers heartbeats and confirms nothing would hold its worker for ever: what it did not confirm is
/// published again, as the same messages, on another connection. The patience doubles while that does not help, for a
/// queue without its majority confirms nothing on any connection. Pure: time comes in.
package struct ConfirmPatience: Sendable {
    /// The usual patience: far above what a busy disk or a new leader of a queue takes.
    package static let usual = Duration.seconds(30)
    /// How often it doubles at most: to eight minutes.
    static let mostDoublings = 4
    /// After how much time without trouble the patience is the usual one again.
    static let memory = Duration.seconds(600)

    /// What it is without trouble.
    package let usual: Duration
    private var doublings = 0
    /// When it ran out last.
    private var ranOutAt: MonotonicTime?
    /// Until when the broker had said itself that it does not read.
    private var excusedUntil = MonotonicTime(nanoseconds: 0)

    /// Patience that never ran out.
    ///
    /// - Parameter usual: The usual patience.
    package init(usual: Duration = ConfirmPatience.usual) { self.usual = usual }

    private var present: Duration { usual * (1 << doublings) }

    /// The broker says that it does not read now: what it owes is not expected meanwhile.
    package mutating func excused(now: MonotonicTime) { excusedUntil = now }

    /// When the patience runs out.
    ///
    /// - Parameter oldest: Since when the broker owes what it has owed the longest; nil where it owes nothing.
    package func due(oldest: MonotonicTime?) -> MonotonicTime? {
        oldest.map { max($0, excusedUntil) + present }
    }

    /// Whether the patience has run out; if so, the next is longer.
    ///
    /// - Parameters:
    ///   - oldest: Since when the broker owes what it has owed the longest; nil where it owes nothing.
    ///   - now: The time.
    package mutating func runsOut(oldest: MonotonicTime?, now: MonotonicTime) -> Bool {
        if let last = ranOutAt, now >= last + Self.memory + present {
            doublings = 0
            ranOutAt = nil
        }
        guard let due = due(oldest: oldest), now >= due else { return false }
        doublings = ranOutAt == nil ? 1 : min(Self.mostDoublings, doublings + 1)
        ranOutAt = now
        return true
    }
}
