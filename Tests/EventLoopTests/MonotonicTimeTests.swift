import Testing

@testable import EventLoop

@Suite("Time", .timeLimit(.minutes(1)))
struct MonotonicTimeTests {
    @Test("goes on, and the calendar is this century's")
    func clocks() {
        let first = MonotonicTime.now()
        #expect(MonotonicTime.now() >= first)
        #expect(WallClock.milliseconds() > 1_700_000_000_000)
    }

    @Test("differences never go below zero, sums never overflow")
    func arithmetic() {
        let start = MonotonicTime(nanoseconds: 5)
        #expect(start.nanoseconds(since: MonotonicTime(nanoseconds: 9)) == 0)
        #expect(MonotonicTime(nanoseconds: 9).nanoseconds(since: start) == 4)
        #expect(start.adding(nanoseconds: .max).nanoseconds == .max)
        #expect(start.adding(.seconds(2)).nanoseconds == 2_000_000_005)
        #expect(start.adding(.seconds(-2)) == start)
        #expect(start.adding(.seconds(Int64.max)).nanoseconds == .max)
    }

    @Test(
        "durations become whole nanoseconds, rounded down, and stay within what can be counted",
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (Duration.nanoseconds(3) / 2, 1), (.seconds(30), 30_000_000_000),
            (.nanoseconds(-1), 0), (Duration.nanoseconds(-1) / 2, 0), (.seconds(Int64.min), 0),
            (.nanoseconds(UInt64.max), .max), (.nanoseconds(UInt64.max) + .nanoseconds(1), .max),
            (.seconds(Int64.max), .max),
        ] as [(Duration, UInt64)])
    func wholeNanoseconds(duration: Duration, expected: UInt64) {
        #expect(duration.clampedNanoseconds == expected)
    }

    @Test("the earliest of some points is found, wherever it stands, and nil ones do not count")
    func earliest() {
        let (first, second) = (MonotonicTime(nanoseconds: 4), MonotonicTime(nanoseconds: 5))
        #expect(MonotonicTime.earliest(of: [nil, nil] as [2 of MonotonicTime?]) == nil)
        #expect(MonotonicTime.earliest(of: [nil, second, nil] as [3 of MonotonicTime?]) == second)
        #expect(MonotonicTime.earliest(of: [second, first, nil, second] as [4 of MonotonicTime?]) == first)
    }

    @Test("a drawn duration lies within its bounds and may be each of them")
    func draw() {
        var random = SystemRandomNumberGenerator()
        let drawn = Set((0..<200).map { _ in Duration.random(in: .nanoseconds(2)...(.nanoseconds(4)), using: &random) })
        #expect(drawn == [.nanoseconds(2), .nanoseconds(3), .nanoseconds(4)])
        #expect(Duration.random(in: .seconds(2)...(.seconds(2)), using: &random) == .seconds(2))
    }

    @Test(
        "waits are rounded up to whole milliseconds",
        arguments: [
            (Duration.zero, Int32(0)), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(-1), 0), (.seconds(3_000_000), .max),
        ])
    func rounding(duration: Duration, milliseconds: Int32) {
        #expect(duration.pollMilliseconds == milliseconds)
    }
}
