/// One moment by both clocks that decisions need.
///
/// Waits use the monotonic clock, which never jumps. Times that others wrote or will read, such as a job's deadline,
/// use the calendar.
package struct Moment: Hashable, Sendable {
    /// The moment on the monotonic clock.
    package var monotonic: MonotonicTime
    /// The same moment in the calendar, in milliseconds since 1970.
    package var wall: Int64

    /// Makes a moment from the readings of the two clocks.
    ///
    /// - Parameters:
    ///   - monotonic: The monotonic clock.
    ///   - wall: The calendar, in milliseconds since 1970.
    package init(monotonic: MonotonicTime, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// Reads both clocks.
    ///
    /// - Returns: The present.
    package static func now() -> Moment {
        Moment(monotonic: .now(), wall: WallClock.milliseconds())
    }
}
