import APNSClient
import EventLoop
import Logging
import TestSupport
import Testing

@testable import PushWorker

@Suite("What the lanes of a route share", .timeLimit(.minutes(1)))
struct SharedRouteStateTests {
    private static func at(_ seconds: Int64) -> MonotonicTime { 0 + .seconds(seconds) }

    @Test("Two lanes together keep the rate of their route, and what one does not use the other may")
    func rate() {
        let rate = SharedRate(perSecond: 100)
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
        #expect(sent == 100, "a full bucket per look, whoever looks")
    }

    @Test("A route whose configuration changed goes on with what it knew of dead tokens, on other lanes too")
    func knowledge() {
        let before = SharedRouteState(lanes: [0, 1]).deadTokens
        for _ in 0..<500 { before.learn(live: 0, isDeadToken: true, inFlight: 0) }
        let after = SharedRouteState(lanes: [2], after: before).deadTokens
        #expect(before.isSuspicious && after.isSuspicious && after.knowledge == before.knowledge)
        before.trust(by: "a")
        #expect(!before.isSuspicious && after.isSuspicious, "both learn by themselves from then on")
        let trusted = SharedRouteState(after: before).deadTokens
        trusted.trust(by: "a")
        #expect(!trusted.isSuspicious)
        #expect(SharedRouteState().deadTokens.knowledge == nil)
    }

    @Test("An outage that all lanes of a route see is told once, and so is its end")
    func outages() {
        let outages = RouteOutages()
        let failure = APNSClientError(.unreachable, "connecting to 17.1.1.1:443 failed")
        func reached(_ kind: Destination.Kind, _ failure: APNSClientError?, at second: Int64) -> OutageLog.News? {
            outages.reached(kind, failure, now: Self.at(second))
        }
        #expect(reached(.devices, failure, at: 10) == .failed(failure.message, .warning))
        #expect(reached(.devices, failure, at: 11) == .failed(failure.message, .debug), "the other lane")
        #expect(reached(.broadcast, failure, at: 11) == .failed(failure.message, .warning), "another host")
        #expect(reached(.devices, nil, at: 31) == .works(OutageLog.Ended(duration: .seconds(21), failures: 2)))
        #expect(reached(.devices, nil, at: 32) == nil, "the other lane")
        let levels = (0..<4).map { _ in outages.channelClosed(code: 404, text: "no queue", now: Self.at(1)) }
        #expect(levels == [.warning, .debug, .debug, .debug])
        let ends = (0..<4).map { _ in outages.consumes(now: Self.at(0)) }
        #expect(ends == [OutageLog.Ended(duration: .zero, failures: 4), nil, nil, nil], "a clock that was read before")
    }

    @Test("A token that APNs has had too many for on one lane rests on all, until its time is over")
    func cooling() {
        let cooling = SharedCoolingTokens()
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

    @Test("A jump to mostly dead tokens is suspicious on all lanes, however it is spread over them")
    func deadTokens() {
        let shared = SharedDeadTokens()
        var lanes = [DeadTokenTally(shared), DeadTokenTally(shared)]
        for number in 1..<DeadTokenWatch.minimumAnswers { lanes[number % 2].answered(isDeadToken: true, inFlight: 0) }
        #expect(!lanes[0].isSuspicious(inFlight: 0) && !lanes[1].isSuspicious(inFlight: 0))
        lanes[0].answered(isDeadToken: true, inFlight: 0)
        #expect(lanes[0].isSuspicious(inFlight: 0) && lanes[1].isSuspicious(inFlight: 0))
        for _ in 0..<100 { lanes[1].answered(isDeadToken: false, inFlight: 0) }
        #expect(!lanes[1].isSuspicious(inFlight: 0) && !lanes[0].isSuspicious(inFlight: 0))
    }

    @Test("One lane learns from its answers what the route did when it had one lane only")
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

    @Test(
        "A route does what it does on any of its lanes, and what troubles it on any is told",
        arguments: [
            (RouteState.ready, RouteState.parked, RouteState.ready), (.parked, .ready, .ready),
            (.probing, .parked, .probing),
            (.unreachable, .starting, .starting), (.parked, .unreachable, .unreachable),
        ])
    func readiness(first: RouteState, second: RouteState, expected: RouteState) {
        func part(_ state: RouteState, _ troubles: [String], version: Int) -> LaneStatus.Route {
            LaneStatus.Route(
                name: "app", state: state, connections: 2, credentialVersion: version, troubles: troubles,
                limitedBy: state == .ready ? .nothing : .apns)
        }
        var route = part(first, ["a"], version: 3)
        route.join(part(second, ["a", "b"], version: 2))
        #expect(route.state == expected && route.connections == 4 && route.troubles == ["a", "b"])
        #expect(route.credentialVersion == 2, "a version is in use once it is everywhere")
        #expect(route.limitedBy == .apns)
    }

    @Test("A route is parked once it is on all lanes; its counters are added")
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

    @Test("Suspects have their turn on one lane after the other, once all other lanes stand still")
    func suspects() {
        let turns = SuspectTurns()
        #expect(turns.lane == nil && turns.mayTake(1, of: [1]))
        turns.note(1, hasSuspects: true)
        #expect(turns.lane == 1 && !turns.mayTake(1, of: [0, 1, 2]))
        for lane in [0, 2] {
            #expect(!turns.mayTake(1, of: [0, 1, 2]))
            let isNews = turns.note(lane, isStill: true)
            #expect(isNews && !turns.note(lane, isStill: true))
        }
        #expect(turns.mayTake(1, of: [0, 1, 2]) && !turns.mayTake(0, of: [0, 1, 2]))
        // Another lane has some, too: it goes first from now on, once this one is through.
        turns.note(0, hasSuspects: true)
        #expect(turns.lane == 0 && !turns.mayTake(1, of: [0, 1, 2]) && !turns.mayTake(0, of: [0, 1, 2]))
        _ = turns.note(1, isStill: true)
        #expect(turns.mayTake(0, of: [0, 1, 2]))
        turns.note(0, hasSuspects: false)
        turns.note(1, hasSuspects: false)
        #expect(turns.lane == nil)
        // What stood still then may have gone on.
        turns.note(1, hasSuspects: true)
        #expect(!turns.mayTake(1, of: [0, 1, 2]))
    }
}
