internal import Glibc

/// A moment on the clock that never steps (`CLOCK_MONOTONIC`), in nanoseconds since an arbitrary start.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    package var nanoseconds: UInt64

    /// A moment from its nanoseconds.
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// This moment.
    package static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    /// A later moment.
    package func adding(nanoseconds more: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds &+ more)
    }

    /// A later moment; a negative duration counts as zero.
    package func adding(_ duration: Duration) -> MonotonicTime { adding(nanoseconds: duration.nanoseconds) }

    /// How much later this moment is, 0 when it is earlier.
    package func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }

    package static func < (one: MonotonicTime, other: MonotonicTime) -> Bool { one.nanoseconds < other.nanoseconds }
}

extension Duration {
    /// The duration in whole nanoseconds; negative durations count as zero.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return seconds < 0 ? 0 : UInt64(seconds) &* 1_000_000_000 &+ UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}

/// The clock people and APNs read, which may step.
package enum WallClock {
    /// Milliseconds since 1970 (`CLOCK_REALTIME`).
    package static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
