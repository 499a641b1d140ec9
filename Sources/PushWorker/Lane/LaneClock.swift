import EventLoop

/// The time of a lane's turn, and what its clocks show about the time that passed.
struct LaneClock {
    /// The time of this turn. After the clock was set, its wall time is the earlier of the two times (`ClockWatch`).
    private(set) var moment: Moment
    /// The time of this turn as the wall clock has it, in milliseconds since 1970. Requests of operators end by it.
    private(set) var wall: Int64
    private let time: any TimeSource
    private var watch: ClockWatch

    /// Reads the clocks for the first time.
    ///
    /// - Parameters:
    ///   - time: The clocks.
    ///   - standstill: How long a lane may stand before its connections count as lost, in milliseconds.
    init(_ time: any TimeSource, standstill: Int64) {
        self.time = time
        (moment, wall) = (time.moment, time.wall)
        watch = ClockWatch(standstill: standstill)
    }

    /// Sets how long a lane may stand from now on before its connections count as lost, in milliseconds.
    mutating func allow(standstill: Int64) { watch.standstill = standstill }

    /// A turn begins: reads the clocks. The moment has the wall time of the turn before until `believe()`.
    ///
    /// - Parameter now: The time on the monotonic clock.
    /// - Returns: What the clocks show.
    mutating func read(now: MonotonicTime) -> [ClockWatch.Event] {
        moment.monotonic = now
        wall = time.wall
        return watch.read(boot: time.boot, wall: wall)
    }

    /// Gives the moment the wall time that is believed.
    mutating func believe() { moment.wall = watch.believed(wall: wall) }
}
