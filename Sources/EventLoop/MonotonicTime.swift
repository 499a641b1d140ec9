import Glibc

/// A point on the machine's monotonic clock (CLOCK_MONOTONIC), in nanoseconds; it never goes back.
///
/// Points are compared and moved many times for each job, so other modules inline these operations.
@usableFromInline
package struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary start, usually the machine's boot.
    @usableFromInline package var nanoseconds: UInt64

    /// Makes a point in time from its distance to the clock's start.
    ///
    /// - Parameter nanoseconds: Nanoseconds since the clock's start.
    @inlinable
    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Reads the clock.
    ///
    /// - Returns: The present.
    package static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// The point this many nanoseconds later; the far end of the clock where that would overflow.
    ///
    /// - Parameter nanoseconds: The distance in nanoseconds.
    /// - Returns: The later point.
    @inlinable
    package func adding(nanoseconds: UInt64) -> MonotonicTime {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return MonotonicTime(nanoseconds: overflow ? .max : sum)
    }

    /// The point this much later; a negative duration counts as none.
    ///
    /// - Parameter duration: The distance.
    /// - Returns: The later point.
    @inlinable
    package func adding(_ duration: Duration) -> MonotonicTime {
        adding(nanoseconds: duration.clampedNanoseconds)
    }

    /// The earliest of some points. They are not an array, so that a loop that asks in each turn allocates nothing.
    ///
    /// - Parameter times: The points; nil ones do not count.
    /// - Returns: The earliest; nil where all are nil.
    @inlinable
    package static func earliest<let count: Int>(of times: [count of MonotonicTime?]) -> MonotonicTime? {
        var earliest: MonotonicTime?
        for index in times.indices {
            guard let time = times[index] else { continue }
            earliest = earliest.map { min($0, time) } ?? time
        }
        return earliest
    }

    /// How much later this point is than another.
    ///
    /// - Parameter earlier: The other point.
    /// - Returns: The distance in nanoseconds, 0 when `earlier` is the later one.
    @inlinable
    package func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }

    /// The far end of the clock, which stands for never.
    @inlinable package static var distantFuture: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// The point this much later; a negative duration counts as none.
    @inlinable
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime { time.adding(duration) }

    /// How much later one point is than another; zero when it is the earlier one.
    @inlinable
    package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        .nanoseconds(Int64(clamping: later.nanoseconds(since: earlier)))
    }

    @inlinable
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Whole nanoseconds; 0 for a negative duration, the largest number where it would overflow.
    @inlinable package var clampedNanoseconds: UInt64 { UInt64(clamping: attoseconds / 1_000_000_000) }

    /// Draws a random duration from a range: its lower bound plus a whole number of nanoseconds.
    ///
    /// - Parameters:
    ///   - range: The shortest and the longest duration.
    ///   - random: The source of randomness.
    /// - Returns: The duration.
    package static func random(
        in range: ClosedRange<Duration>, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let width = (range.upperBound - range.lowerBound).clampedNanoseconds
        return range.lowerBound + .nanoseconds(Int64(clamping: UInt64.random(in: 0...width, using: &random)))
    }

    /// Whole milliseconds, rounded up so that a wait never ends early; at most what poll(2) takes.
    package var pollMilliseconds: Int32 {
        let nanoseconds = clampedNanoseconds
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        return Int32(clamping: milliseconds)
    }
}
