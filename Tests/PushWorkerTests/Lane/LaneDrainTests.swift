import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("The drain of a lane", .timeLimit(.minutes(1)))
struct LaneDrainTests {
    @Test(
        "jobs are sent for half of the time, handed back for the other half, and given up at the end",
        arguments: [
            (0, false, false, 50), (49, false, false, 50), (50, true, false, 100), (99, true, false, 100),
            (100, true, true, 100),
        ] as [(Int, Bool, Bool, Int)])
    func phases(passed: Int, isLeaving: Bool, isOver: Bool, due: Int) {
        let start: MonotonicTime = 1_000_000_000
        let drain = LaneDrain(until: start + .seconds(100), now: start)
        let now = start + .seconds(passed)
        #expect(drain.isLeaving(now: now) == isLeaving && drain.isOver(now: now) == isOver)
        #expect(drain.nextDue(after: now) == start + .seconds(due))
    }

    @Test("without any time left, everything is given up at once")
    func late() {
        let now: MonotonicTime = 1_000_000_000
        let drain = LaneDrain(until: 0, now: now)
        #expect(drain.isLeaving(now: now) && drain.isOver(now: now))
    }
}
