import EventLoop
import Logging
import Testing

@testable import PushWorker

@Suite("What the log tells of an outage", .timeLimit(.minutes(1)))
struct OutageLogTests {
    private static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(Int64(seconds * 1_000))
    }

    @Test("The first failure is told, then one a minute, and the end with its length")
    func reminders() {
        var log = OutageLog()
        var told: [Int] = []
        for second in 0..<150 where log.failed("refused", now: Self.at(Double(second))) == .warning {
            told.append(second)
        }
        #expect(told == [0, 60, 120])
        #expect(log.works(now: Self.at(150.26))?.text == "after 150s and 150 failures")
        #expect(log.works(now: Self.at(151)) == nil)
        #expect(log.failed("refused", level: .error, now: Self.at(152)) == .error, "the next outage is news")
        #expect(log.works(now: Self.at(152.5))?.text == "after 500ms and 1 failure")
    }

    @Test("Another reason is told at once")
    func reasons() {
        var log = OutageLog()
        let levels = ["refused", "refused", "no route", "refused"].map { log.failed($0, now: Self.at(1)) }
        #expect(levels == [.warning, .debug, .warning, .warning])
    }

    @Test("Success is told once after a failure, and only then")
    func news() {
        var log = OutageLog()
        #expect(log.note(failure: nil, now: Self.at(1)) == nil)
        #expect(log.note(failure: "refused", now: Self.at(2)) == .failed("refused", .warning))
        #expect(log.note(failure: "refused", now: Self.at(3)) == .failed("refused", .debug))
        let over = OutageLog.Ended(duration: .seconds(2), failures: 2)
        #expect(log.note(failure: nil, now: Self.at(4)) == .works(over))
        #expect(log.note(failure: nil, now: Self.at(5)) == nil)
    }
}
