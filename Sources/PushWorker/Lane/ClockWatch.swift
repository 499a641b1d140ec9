/// Notices that time did not pass as it should have: a clock was set, a process was stopped, or a machine slept.
///
/// The boot clock (CLOCK_BOOTTIME) never jumps and goes on while the machine sleeps. The calendar (CLOCK_REALTIME) may
/// be set to anything at any time. After it was set, nobody knows which of the two times is right. The earlier one is
/// believed until the calendar has stayed as it is for a while: a job counts as expired only if it is expired by both
/// times. Pure: readings come in.
package struct ClockWatch: Sendable {
    /// What a reading showed.
    package enum Event: Equatable, Sendable {
        /// The lane did not turn for this many milliseconds. Promises that others made to it before no longer hold.
        case stood(milliseconds: Int64)
        /// The calendar was set by this many milliseconds; negative for back.
        case stepped(milliseconds: Int64)
        /// The calendar stayed as it was set, and is believed from now on.
        case settled
    }

    /// Changes of the calendar beyond this are steps; smaller ones are the slow corrections of NTP. In milliseconds.
    package static let tolerance: Int64 = 2_000
    /// How long a calendar that was set must stay as it is to be believed, in milliseconds.
    package static let settling: Int64 = 300_000

    /// How long a lane may stand before its connections count as lost, in milliseconds.
    package var standstill: Int64
    private var last: (boot: UInt64, wall: Int64)?
    /// The last reading before the calendar was set; nil while there is nothing to doubt.
    private var trusted: (boot: UInt64, wall: Int64)?
    /// How far the calendar is ahead of the time that went on from there, in milliseconds.
    private var doubt: Int64 = 0
    /// When the calendar was set last, by the boot clock, in nanoseconds.
    private var steppedAt: UInt64 = 0

    /// A watch that has seen nothing.
    ///
    /// - Parameter standstill: How long a lane may stand before its connections count as lost, in milliseconds.
    package init(standstill: Int64) { self.standstill = standstill }

    /// Takes a reading, once per turn.
    ///
    /// - Parameters:
    ///   - boot: The boot clock now, in nanoseconds.
    ///   - wall: The calendar now, in milliseconds since 1970.
    /// - Returns: What the reading showed, at most one event of each kind.
    package mutating func read(boot: UInt64, wall: Int64) -> [Event] {
        defer { last = (boot, wall) }
        guard let before = last else { return [] }
        var events: [Event] = []
        let passed = Self.milliseconds(from: before.boot, to: boot)
        if passed > standstill { events.append(.stood(milliseconds: passed)) }
        let step = wall - before.wall - passed
        let isStep = step.magnitude > Self.tolerance.magnitude
        if isStep {
            trusted = trusted ?? before
            steppedAt = boot
            events.append(.stepped(milliseconds: step))
        }
        guard let trusted else { return events }
        // Corrections that are no steps move the calendar, and not the time that goes on from before it was set.
        doubt = wall - trusted.wall - Self.milliseconds(from: trusted.boot, to: boot)
        let isOld = boot >= steppedAt + UInt64(Self.settling) * 1_000_000
        // Where the calendar was set back to where it was, there is nothing left to doubt.
        guard doubt.magnitude <= Self.tolerance.magnitude || isOld else { return events }
        (self.trusted, doubt) = (nil, 0)
        if !isStep { events.append(.settled) }
        return events
    }

    private static func milliseconds(from earlier: UInt64, to boot: UInt64) -> Int64 {
        Int64(clamping: (boot - min(boot, earlier)) / 1_000_000)
    }

    /// The time that is believed: the earlier one while the calendar is in doubt.
    ///
    /// - Parameter wall: The calendar now, in milliseconds since 1970.
    /// - Returns: Milliseconds since 1970.
    package func believed(wall: Int64) -> Int64 { wall - max(0, doubt) }
}
