import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("A rate on several lanes", .timeLimit(.minutes(1)))
struct SharedRateTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime { 0 + .milliseconds(milliseconds) }

    @Test("Normal jobs of all lanes leave the next request to a lane on which high ones wait")
    func urgent() {
        let rate = SharedRate(perSecond: 20, lanes: 2)
        #expect(rate.take(upTo: 100, now: Self.time(0)) == 2)
        rate.note(isUrgent: true)
        #expect(rate.take(upTo: 100, now: Self.time(60)) == 0)
        let normal = rate.nextDue(now: Self.time(60))
        #expect(normal > Self.time(80) && normal < Self.time(110), "after the one that is left to the high job")
        #expect(rate.nextDue(isUrgent: true, now: Self.time(60)) == Self.time(60))
        #expect(rate.take(upTo: 100, isUrgent: true, now: Self.time(60)) == 1)
        rate.note(isUrgent: false)
        #expect(rate.take(upTo: 100, now: Self.time(120)) == 1)
    }

    @Test("Each lane on which high ones wait is left one request")
    func severalLanes() {
        let rate = SharedRate(perSecond: 100, lanes: 3)
        rate.note(isUrgent: true)
        rate.note(isUrgent: true)
        #expect(rate.take(upTo: 100, now: Self.time(0)) == 8)
        #expect(rate.take(upTo: 100, isUrgent: true, now: Self.time(0)) == 2)
    }
}
