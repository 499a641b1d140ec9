internal import EventLoop
import Synchronization

/// The time of the simulator's rules: the wall clock, plus what it was put forward by. Safe from any thread.
///
/// Everything Apple measures in hours (provider tokens, certificates, idle connections) goes by this clock, so that a
/// test can let hours pass in a moment. Delays of answers go by real time.
final class VirtualClock: Sendable {
    /// How far the clock can be put forward altogether, in milliseconds: ten years.
    static let advanceLimit: Int64 = 315_360_000_000

    private let offset: Atomic<Int64>

    /// Starts at the wall clock's time, or ahead of it.
    ///
    /// - Parameter advance: How far ahead, in milliseconds; held within 0 and ``advanceLimit``.
    init(advance: Int64 = 0) { offset = Atomic(min(max(0, advance), Self.advanceLimit)) }

    /// Milliseconds since 1970.
    var now: Int64 { WallClock.milliseconds() + offset.load(ordering: .relaxed) }

    /// How far the clock is ahead of the wall clock, in milliseconds.
    var advance: Int64 { offset.load(ordering: .relaxed) }

    /// Takes the clock back to the wall clock's time.
    func reset() { offset.store(0, ordering: .relaxed) }

    /// Puts the clock forward.
    ///
    /// - Parameter milliseconds: How far; nothing happens where that is negative or beyond ``advanceLimit``.
    /// - Returns: Whether the clock was moved.
    func advance(milliseconds: Int64) -> Bool {
        guard milliseconds >= 0, milliseconds <= Self.advanceLimit - advance else { return false }
        offset.wrappingAdd(milliseconds, ordering: .relaxed)
        return true
    }
}

/// Durations as people write them.
package enum DurationText {
    private static let units: [(suffix: String, milliseconds: Double)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads a duration such as `250ms`, `1.5s`, `20m`, `1h` or `30d`.
    ///
    /// - Parameter text: The text.
    /// - Returns: Milliseconds, or nil where it is no duration or longer than ten years.
    package static func milliseconds(_ text: String) -> Int64? {
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            guard let number = Double(text.dropLast(suffix.count)), number >= 0 else { continue }
            let milliseconds = (number * factor).rounded()
            return milliseconds <= Double(VirtualClock.advanceLimit) ? Int64(milliseconds) : nil
        }
        return nil
    }
}
