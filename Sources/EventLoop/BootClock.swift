import Glibc

/// The time since the machine started (CLOCK_BOOTTIME). Unlike the monotonic clock it goes on while the machine sleeps.
package enum BootClock {
    /// Reads the clock.
    ///
    /// - Returns: Nanoseconds since the machine started.
    package static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
