/// Decides when a confirm, or an open channel, has been awaited for so long that its connection is to be given up.
///
/// A broker that answers heartbeats and confirms nothing would hold its worker for ever: what it did not confirm is
/// published again, as the same messages, on another connection. The patience doubles while that does not help, for a
/// queue without its majority confirms nothing on any connection. Pure: time comes in.
package struct ConfirmPatience: Sendable {
    /// The usual patience in nanoseconds: far above what a busy disk or a new leader of a queue takes.
    package static let usual: UInt64 = 30_000_000_000
    /// How often it doubles at most: to eight minutes.
    static let mostDoublings: UInt64 = 4
    /// After how much time without trouble the patience is the usual one again, in nanoseconds.
    static let memory: UInt64 = 600_000_000_000

    private let usual: UInt64
    private var doublings: UInt64 = 0
    /// When it ran out last.
    private var ranOutAt: UInt64?
    /// Until when the broker had said itself that it does not read.
    private var excusedUntil: UInt64 = 0

    /// Patience that never ran out.
    ///
    /// - Parameter usual: The usual patience, in nanoseconds.
    package init(usual: UInt64 = ConfirmPatience.usual) { self.usual = usual }

    /// The broker says that it does not read now: what it owes is not expected meanwhile.
    package mutating func excused(now: UInt64) { excusedUntil = now }

    /// When the patience runs out.
    ///
    /// - Parameter oldest: Since when the broker owes what it has owed the longest; nil where it owes nothing.
    package func due(oldest: UInt64?) -> UInt64? {
        oldest.map { max($0, excusedUntil) + usual << doublings }
    }

    /// Whether the patience has run out; if so, the next is longer.
    ///
    /// - Parameters:
    ///   - oldest: Since when the broker owes what it has owed the longest; nil where it owes nothing.
    ///   - now: The time.
    package mutating func runsOut(oldest: UInt64?, now: UInt64) -> Bool {
        if let last = ranOutAt, now >= last + Self.memory + usual << doublings {
            doublings = 0
            ranOutAt = nil
        }
        guard let due = due(oldest: oldest), now >= due else { return false }
        doublings = ranOutAt == nil ? 1 : min(Self.mostDoublings, doublings + 1)
        ranOutAt = now
        return true
    }
}
