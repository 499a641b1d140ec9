import EventLoop

/// The clocks of a world. They stand still until the world moves them.
// A world lives on one thread.
final class WorldTime: TimeSource, @unchecked Sendable {
    private(set) var monotonic = MonotonicTime(nanoseconds: 1_000_000_000_000)
    /// How far the workers' calendars are ahead of the true time, in milliseconds.
    private(set) var error: Int64 = 0
    /// How far they ever were ahead, and behind.
    private(set) var errors: (ahead: Int64, behind: Int64) = (0, 0)

    /// The true time, in milliseconds since 1970: that of producers, of the broker and of APNs.
    var truth: Int64 { Int64(monotonic.nanoseconds / 1_000_000) + 1_800_000_000_000 }

    /// The time of the workers' calendars.
    var wall: Int64 { truth + error }

    var boot: UInt64 { monotonic.nanoseconds }

    func wait(_ limit: Duration) -> Duration { .zero }

    /// Lets time go on to a moment.
    func advance(to time: MonotonicTime) { monotonic = max(monotonic, time) }

    /// Sets the workers' calendars so many milliseconds ahead of the true time; behind it, where they are negative.
    func setCalendars(ahead milliseconds: Int64) {
        error = milliseconds
        errors = (max(errors.ahead, milliseconds), max(errors.behind, -milliseconds))
    }
}
