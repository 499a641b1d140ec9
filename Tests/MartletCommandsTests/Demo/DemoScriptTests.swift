import Testing

@testable import MartletCommands

@Suite("What the demo does when", .timeLimit(.minutes(1)))
struct DemoScriptTests {
    private typealias Progress = DemoScript.Progress
    private let start = ContinuousClock.now

    @Test(
        "A worker is replaced once half of what was asked for is final, and only once",
        arguments: [(0, false), (49, false), (50, true), (99, true)])
    func replacement(final: Int, isDue: Bool) {
        var script = DemoScript(expected: 100, now: start)
        let progress = Progress(promised: 100, open: 100 - final, final: final)
        #expect(script.next(progress, now: start) == (isDue ? .replaceWorker : .wait))
        #expect(script.next(progress, now: start) == .wait)
    }

    @Test("It is over when the producer is done and nothing is open; a worker was replaced before")
    func finish() {
        var script = DemoScript(expected: 100, now: start)
        let done = Progress(promised: 100, open: 0, final: 100)
        #expect(script.next(done, now: start) == .replaceWorker)
        #expect(script.next(done, now: start) == .wait)
        script.published()
        #expect(script.next(done, now: start) == .finish)
    }

    @Test("A producer that was refused promises less, and half of that is half way")
    func refused() {
        var script = DemoScript(expected: 100, now: start)
        let progress = Progress(promised: 10, open: 5, final: 5)
        #expect(script.next(progress, now: start) == .wait)
        script.published()
        #expect(script.next(progress, now: start) == .replaceWorker)
    }

    @Test("Nothing to do at all is not half way, but over")
    func nothing() {
        var script = DemoScript(expected: 100, now: start)
        script.published()
        #expect(script.next(Progress(), now: start) == .finish)
    }

    @Test("Standing still for a minute is giving up; any movement starts the minute again")
    func stall() {
        var script = DemoScript(expected: 100, now: start)
        func later(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }
        #expect(script.next(Progress(promised: 9, open: 9, final: 0), now: later(50)) == .wait)
        #expect(script.next(Progress(promised: 9, open: 8, final: 1), now: later(100)) == .wait)
        #expect(script.next(Progress(promised: 9, open: 8, final: 1), now: later(159)) == .wait)
        #expect(script.next(Progress(promised: 9, open: 8, final: 1), now: later(160)) == .giveUp)
    }

    @Test(
        "KEEP means yes unless it is empty or says no",
        arguments: [
            (nil, false), ("", false), ("0", false), ("no", false), ("False", false), ("1", true), ("yes", true),
        ])
    func keep(value: String?, isKept: Bool) {
        #expect(DemoCommand.isKeptByEnvironment(value) == isKept)
    }

    @Test("The rate is that of the last second")
    func rate() {
        var meter = RateMeter()
        #expect(meter.measure(0, at: 0) == 0)
        #expect(meter.measure(50, at: 500) == 100)
        #expect(meter.measure(100, at: 1_000) == 100)
        #expect(meter.measure(100, at: 1_500) == 50)
        #expect(meter.measure(100, at: 2_500) == 0)
    }
}
