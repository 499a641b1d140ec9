package import EventLoop
import Synchronization

/// A clock that stands still until it is told to move; safe on any thread.
package final class ManualClock: Sendable {
    private struct State {
        var monotonic: MonotonicTime
        var wallMilliseconds: Int64
    }

    private let state: Mutex<State>

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - monotonic: Its monotonic time, in nanoseconds.
    ///   - wallMilliseconds: Its calendar time, in milliseconds since 1970.
    package init(monotonic: UInt64 = 1_000_000_000_000, wallMilliseconds: Int64 = 1_800_000_000_000) {
        state = Mutex(
            State(monotonic: MonotonicTime(nanoseconds: monotonic), wallMilliseconds: wallMilliseconds))
    }

    /// The monotonic time.
    package var now: MonotonicTime { state.withLock { $0.monotonic } }

    /// The calendar time, in milliseconds since 1970.
    package var wallMilliseconds: Int64 { state.withLock { $0.wallMilliseconds } }

    /// The calendar time, in whole seconds since 1970.
    package var wallSeconds: Int64 { wallMilliseconds / 1000 }

    /// Moves both times forward.
    ///
    /// - Parameter duration: How far; must not be negative.
    package func advance(by duration: Duration) {
        precondition(duration >= .zero, "a clock moves forward")
        state.withLock {
            $0.monotonic = $0.monotonic.adding(duration)
            let (seconds, attoseconds) = duration.components
            $0.wallMilliseconds += seconds * 1000 + attoseconds / 1_000_000_000_000_000
        }
    }

    /// Sets the calendar time, which may jump either way, and leaves the monotonic one alone.
    ///
    /// - Parameter milliseconds: Milliseconds since 1970.
    package func setWall(milliseconds: Int64) {
        state.withLock { $0.wallMilliseconds = milliseconds }
    }
}

/// Turns a loop until something has happened.
///
/// - Parameters:
///   - loop: The loop, turned on the calling thread.
///   - limit: When to give up; generous, for it is reached only when the test fails.
///   - condition: Looked at before each turn.
/// - Returns: Whether it happened in time.
/// - Throws: `EventLoopError` when the loop fails.
package func turn(
    _ loop: EventLoop, limit: Duration = .seconds(20), until condition: () -> Bool
) throws(EventLoopError) -> Bool {
    let deadline = MonotonicTime.now().adding(limit)
    while !condition() {
        guard MonotonicTime.now() < deadline else { return false }
        try loop.turn(waitingAtMost: .milliseconds(100))
    }
    return true
}
