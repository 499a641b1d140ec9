import PushWorker
import Testing

@Suite("Clocks that jump", .timeLimit(.minutes(1)))
struct ClockWatchTests {
    private static let start: Int64 = 1_800_000_000_000

    /// Both clocks, moved by a test.
    private struct Clocks {
        var watch = ClockWatch(standstill: 30_000)
        var boot: UInt64 = 5_000_000_000_000
        var wall = ClockWatchTests.start

        init() { _ = watch.read(boot: boot, wall: wall) }

        /// So many milliseconds pass, in one turn, after the calendar was set by so many.
        mutating func pass(_ milliseconds: Int64, set step: Int64 = 0) -> [ClockWatch.Event] {
            boot += UInt64(milliseconds) * 1_000_000
            wall += milliseconds + step
            return watch.read(boot: boot, wall: wall)
        }

        var believed: Int64 { watch.believed(wall: wall) - ClockWatchTests.start }
    }

    @Test("time that passes is nothing to speak of, and neither are the corrections of NTP")
    func ordinary() {
        var clocks = Clocks()
        for _ in 0..<10_000 {
            let events = clocks.pass(500, set: 100)
            #expect(events.isEmpty)
        }
        #expect(clocks.believed == 10_000 * 600)
    }

    @Test(
        "a lane that stood longer than two heartbeats is told so, whether it was stopped or the machine slept",
        arguments: [(30_000, []), (30_001, [.stood(milliseconds: 30_001)]), (600_000, [.stood(milliseconds: 600_000)])]
            as [(Int64, [ClockWatch.Event])])
    func standstill(pause: Int64, expected: [ClockWatch.Event]) {
        var clocks = Clocks()
        let events = clocks.pass(pause)
        #expect(events == expected)
        #expect(clocks.believed == pause, "the calendar is right")
    }

    @Test("what counts as a standstill follows the heartbeat that was agreed on")
    func agreed() {
        var clocks = Clocks()
        clocks.watch.standstill = 4_000
        let short = clocks.pass(4_001)
        #expect(short == [.stood(milliseconds: 4_001)])
        clocks.watch.standstill = 120_000
        let long = clocks.pass(120_000)
        #expect(long.isEmpty)
    }

    @Test(
        "a calendar that is set is reported; the earlier time counts until it has stayed so for five minutes",
        arguments: [(3_600_000, 0), (-3_600_000, -3_600_000), (2_001, 0)] as [(Int64, Int64)])
    func stepped(step: Int64, believed: Int64) {
        var clocks = Clocks()
        let events = clocks.pass(0, set: step)
        #expect(events == [.stepped(milliseconds: step)])
        #expect(clocks.believed == believed)
        for _ in 0..<299 {
            let later = clocks.pass(1_000)
            #expect(later.isEmpty)
        }
        #expect(clocks.believed == believed + 299_000)
        let last = clocks.pass(1_000)
        #expect(last == [.settled])
        #expect(clocks.believed == step + 300_000)
    }

    @Test("a calendar that is set back to where it was leaves nothing to doubt")
    func setBack() {
        var clocks = Clocks()
        _ = clocks.pass(0, set: 3_600_000)
        _ = clocks.pass(10_000)
        let events = clocks.pass(0, set: -3_600_000)
        #expect(events == [.stepped(milliseconds: -3_600_000)])
        #expect(clocks.believed == 10_000)
        for _ in 0..<400 {
            let later = clocks.pass(1_000)
            #expect(later.isEmpty)
        }
    }

    @Test("a correction while the calendar is in doubt moves the calendar, and not the time before it was set")
    func corrected() {
        var clocks = Clocks()
        _ = clocks.pass(0, set: 5_000)
        let corrected = clocks.pass(0, set: -1_900)
        #expect(corrected.isEmpty && clocks.believed == 0)
        let settled = clocks.pass(1_000, set: -1_900)
        #expect(settled == [.settled] && clocks.believed == 2_200, "1,200 ms from where it was")
    }

    @Test("of several steps the earliest time counts, and each begins the five minutes again")
    func several() {
        var clocks = Clocks()
        _ = clocks.pass(0, set: 3_600_000)
        for _ in 0..<20 { _ = clocks.pass(10_000) }
        _ = clocks.pass(0, set: 3_600_000)
        for _ in 0..<29 { _ = clocks.pass(10_000) }
        #expect(clocks.believed == 490_000)
        let events = clocks.pass(10_000)
        #expect(events == [.settled])
        #expect(clocks.believed == 7_700_000)
    }

    @Test("a stop and a step at once are both told")
    func both() {
        var clocks = Clocks()
        let events = clocks.pass(60_000, set: -5_000)
        #expect(events == [.stood(milliseconds: 60_000), .stepped(milliseconds: -5_000)])
    }
}
