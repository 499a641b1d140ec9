import EventLoop
import Synchronization

/// The time of the simulator's rules: the wall clock, put forward by a chosen time. Safe from any thread.
///
/// Everything that Apple measures in hours follows this clock: provider tokens, certificates, idle connections. So a
/// test can let hours pass in a moment. Delays of answers follow real time.
final class VirtualClock: Sendable {
    /// How far the clock can be put forward in total, in milliseconds: ten years.
    static let advanceLimit: Int64 = 315_360_000_000

    private let offset: Atomic<Int64>
    private let wall: @Sendable () -> Int64

    /// Starts at the wall clock's time, or ahead of it.
    ///
    /// - Parameters:
    ///   - advance: How far ahead, in milliseconds; held within 0 and ``advanceLimit``.
    ///   - wall: Reads the wall clock, in milliseconds since 1970.
    init(advance: Int64 = 0, wall: @escaping @Sendable () -> Int64 = WallClock.milliseconds) {
        offset = Atomic(min(max(0, advance), Self.advanceLimit))
        self.wall = wall
    }

    /// Milliseconds since 1970.
    var now: Int64 { wall() + offset.load(ordering: .relaxed) }

    /// How far the clock is ahead of the wall clock, in milliseconds.
    var advance: Int64 { offset.load(ordering: .relaxed) }

    /// Takes the clock back to the wall clock's time.
    func reset() { offset.store(0, ordering: .relaxed) }

    /// Puts the clock forward.
    ///
    /// - Parameter milliseconds: How far. Nothing happens where it is negative or the total would exceed
    ///   ``advanceLimit``.
    /// - Returns: Whether the clock was moved.
    func advance(milliseconds: Int64) -> Bool {
        guard milliseconds >= 0, milliseconds <= Self.advanceLimit - advance else { return false }
        offset.wrappingAdd(milliseconds, ordering: .relaxed)
        return true
    }
}
