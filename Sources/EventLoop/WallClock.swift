import Glibc

/// The calendar clock (CLOCK_REALTIME), which may be set and may jump.
///
/// It serves for times that others wrote or will read. Waits use `MonotonicTime`.
package enum WallClock {
    /// Reads the clock.
    ///
    /// - Returns: Milliseconds since 1970.
    package static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
