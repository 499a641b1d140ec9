import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("When routes are due", .timeLimit(.minutes(1)))
struct DueTimesTests {
    /// Takes out all that are due.
    private func due(_ times: inout DueTimes, now: MonotonicTime) -> [Int] {
        var routes: [Int] = []
        while let route = times.popDue(now: now) { routes.append(route) }
        return routes
    }

    @Test("routes come out in the order of their times, each once, and those whose time has not come stay")
    func order() {
        var times = DueTimes(routes: 4)
        #expect(times.earliest == nil && due(&times, now: .distantFuture) == [])
        for (route, time) in [(2, 30), (0, 10), (1, 20)] as [(Int, MonotonicTime)] { times.set(time, of: route) }
        #expect(times.earliest == 10)
        #expect(due(&times, now: 9) == [] && due(&times, now: 20) == [0, 1] && due(&times, now: 20) == [])
        #expect(times.earliest == 30)
    }

    @Test("a new time replaces the one before, whether it is earlier, later or never")
    func replacement() {
        var times = DueTimes(routes: 3)
        for route in 0..<3 { times.set(50, of: route) }
        times.set(100, of: 0)
        times.set(10, of: 1)
        times.set(.distantFuture, of: 2)
        #expect(due(&times, now: 99) == [1])
        #expect(times.earliest == 100 && due(&times, now: 100) == [0])
        #expect(times.earliest == nil)
        // A time that comes again after another one counts once.
        for time in [50, 60, 50] as [MonotonicTime] { times.set(time, of: 2) }
        #expect(due(&times, now: 100) == [2])
    }

    @Test("a route whose time changes in every turn does not pile up entries")
    func bounded() {
        var times = DueTimes(routes: 200)
        for route in 0..<200 { times.set(1_000_000, of: route) }
        for turn in 0..<10_000 as Range<UInt64> {
            times.set(MonotonicTime(nanoseconds: 2_000_000 + turn), of: 7)
            times.set(3_000_000, of: 7)
        }
        #expect(times.entryCount <= 2 * 200 + 64)
        #expect(due(&times, now: 2_999_999).count == 199 && due(&times, now: 3_000_000) == [7])
    }
}
