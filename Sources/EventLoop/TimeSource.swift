/// The clocks that a loop and what runs on it read. A worker has the machine's. A simulation moves its own.
package protocol TimeSource {
    /// The clock that waits use.
    var monotonic: MonotonicTime { get }
    /// The calendar, which may be set and may jump, in milliseconds since 1970.
    var wall: Int64 { get }
    /// The time since the machine started, in nanoseconds. It goes on while the machine sleeps.
    var boot: UInt64 { get }

    /// How long the system is to wait where a loop waits this long.
    ///
    /// - Parameter limit: How long the loop waits if nothing happens.
    /// - Returns: The same on a machine's clocks; zero if the clocks stand still while the system waits.
    func wait(_ limit: Duration) -> Duration
}

extension TimeSource {
    /// The present by both clocks that decisions need.
    package var moment: Moment { Moment(monotonic: monotonic, wall: wall) }
}

/// The machine's clocks.
package struct MachineTime: TimeSource, Sendable {
    /// All values are the same.
    package init() {}

    package var monotonic: MonotonicTime { .now() }

    package var wall: Int64 { WallClock.milliseconds() }

    package var boot: UInt64 { BootClock.nanoseconds() }

    package func wait(_ limit: Duration) -> Duration { limit }
}
