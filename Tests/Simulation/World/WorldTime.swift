import EventLoop

/// The clocks of a world. They stand still until the world moves them.
// A world lives on one thread.
final class WorldTime: TimeSource, @unchecked Sendable {
    private(set) var monotonic = MonotonicTime(nanoseconds: 1_000_000_000_000)
    /// How far the calendar is ahead of the monotonic clock, in milliseconds.
    private var lead: Int64 = 1_800_000_000_000

    var wall: Int64 { Int64(monotonic.nanoseconds / 1_000_000) + lead }

    var boot: UInt64 { monotonic.nanoseconds }

    func wait(_ limit: Duration) -> Duration { .zero }

    /// Lets time go on to a moment.
    func advance(to time: MonotonicTime) { monotonic = max(monotonic, time) }

    /// Sets the calendar forward by so many milliseconds; back, where they are negative.
    func stepCalendar(by milliseconds: Int64) { lead += milliseconds }
}
