import APNSClient
import EventLoop
import Logging
import TestSupport
import Testing

@testable import PushWorker

@Suite("What a route knows beside its jobs", .timeLimit(.minutes(1)))
struct RouteKnowledgeTests {
    private static func at(_ seconds: Int64) -> MonotonicTime { 0 + .seconds(seconds) }

    @Test("A rate is kept, and what is not used may be taken later")
    func rate() {
        let rate = SendingRate(perSecond: 100)
        #expect(rate.take(upTo: 6, now: Self.at(1)) == 6)
        #expect(rate.take(upTo: 50, now: Self.at(1)) == 4, "a tenth of a second's worth may go out at once")
        #expect(rate.take(upTo: 50, now: Self.at(1)) == 0 && rate.available(now: Self.at(1)) == 0)
        #expect(rate.nextDue(now: Self.at(1)) == Self.at(1) + .milliseconds(10))
        rate.giveBack(3)
        #expect(rate.take(upTo: 50, now: Self.at(1)) == 3)
        // A probe is not held back, and counts.
        rate.giveBack(-1)
        #expect(rate.nextDue(now: Self.at(1)) == Self.at(1) + .milliseconds(20))
        var sent = 0
        for second in 2...11 {
            for _ in 0..<2 { sent += rate.take(upTo: 100, now: Self.at(Int64(second))) }
        }
        #expect(sent == 100, "a full bucket per second")
    }

    @Test("A route whose configuration changed goes on with what it knew of dead tokens")
    func knowledge() {
        let before = SharedDeadTokens()
        for _ in 0..<500 { before.learn(live: 0, isDeadToken: true, inFlight: 0) }
        let after = SharedDeadTokens(after: before)
        #expect(before.isSuspicious && after.isSuspicious && after.knowledge == before.knowledge)
        before.trust(by: "a")
        #expect(!before.isSuspicious && after.isSuspicious, "both learn by themselves from then on")
        let trusted = SharedDeadTokens(after: before)
        trusted.trust(by: "a")
        #expect(!trusted.isSuspicious)
        #expect(SharedDeadTokens().knowledge == nil)
    }

    @Test("An outage is told once, and so is its end")
    func outages() {
        let outages = RouteOutages()
        let failure = APNSClientError(.unreachable, "connecting to 17.1.1.1:443 failed")
        func reached(_ kind: Destination.Kind, _ failure: APNSClientError?, at second: Int64) -> OutageLog.News? {
            outages.reached(kind, failure, now: Self.at(second))
        }
        #expect(reached(.devices, failure, at: 10) == .failed(failure.message, .warning))
        #expect(reached(.devices, failure, at: 11) == .failed(failure.message, .debug), "told already")
        #expect(reached(.broadcast, failure, at: 11) == .failed(failure.message, .warning), "another host")
        #expect(reached(.devices, nil, at: 31) == .works(OutageLog.Ended(duration: .seconds(21), failures: 2)))
        #expect(reached(.devices, nil, at: 32) == nil, "told already")
        let levels = (0..<4).map { _ in outages.channelClosed(code: 404, text: "no queue", now: Self.at(1)) }
        #expect(levels == [.warning, .debug, .debug, .debug])
        let ends = (0..<4).map { _ in outages.consumes(now: Self.at(0)) }
        #expect(ends == [OutageLog.Ended(duration: .zero, failures: 4), nil, nil, nil], "a clock that was read before")
    }

    @Test("A token that APNs has had too many for rests until its time is over")
    func cooling() {
        let cooling = CoolingTokens()
        #expect(cooling.isEmpty && cooling.nextDue == nil)
        cooling.cool(7, until: Self.at(10), now: Self.at(1))
        #expect(!cooling.isEmpty && cooling.nextDue == Self.at(10) && cooling.count(at: Self.at(1)) == 1)
        #expect(cooling.remaining(7, now: Self.at(4)) == .seconds(6))
        #expect(cooling.remaining(8, now: Self.at(4)) == nil)
        cooling.forgetIfDue(now: Self.at(9))
        #expect(!cooling.isEmpty)
        cooling.forgetIfDue(now: Self.at(10))
        #expect(cooling.isEmpty && cooling.count(at: Self.at(10)) == 0)
    }

    @Test("What is counted before it is learned leads to the same judgement")
    func tally() {
        let shared = SharedDeadTokens()
        var tally = DeadTokenTally(shared)
        var watch = DeadTokenWatch()
        for number in 0..<10_000 {
            let isDead = number % 7 == 0 || (5_000..<5_200).contains(number)
            if isDead { #expect(tally.isSuspicious(inFlight: 0) == watch.isSuspicious, "\(number)") }
            tally.answered(isDeadToken: isDead, inFlight: 0)
            watch.answered(isDeadToken: isDead, inFlight: 0)
        }
    }

    @Test("Counters of several routes are added")
    func counters() {
        var first = RouteCounters(tiers: 1)
        var second = RouteCounters(tiers: 1)
        (first.requests, second.requests) = (3, 4)
        first.isParked = true
        var sum = first
        sum.add(second)
        #expect(!sum.isParked && sum.requests == 7)
        second.isParked = true
        sum = first
        sum.add(second)
        #expect(sum.isParked)
    }
}
