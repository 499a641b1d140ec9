import EventLoop
import PushWorker
import TestSupport
import Testing
import Text

@Suite("A route's breaker", .timeLimit(.minutes(1)))
struct RouteBreakerTests {
    @Test("a refused credential parks, probes with one job, and doubles the delay on every failed probe")
    func parks() {
        var breaker = RouteBreaker()
        var now: MonotonicTime = 0
        var delay = RouteBreaker.firstProbeDelay
        breaker.credentialRefused(now: now)
        for _ in 0..<10 {
            #expect(breaker.intake == .none)
            #expect(breaker.state == .parked(until: now + delay))
            breaker.tick(now: now + (delay - .nanoseconds(1)))
            #expect(breaker.intake == .none)
            now = now + delay
            breaker.tick(now: now)
            #expect(breaker.intake == .one)
            breaker.credentialRefused(now: now)
            delay = min(delay * 2, RouteBreaker.longestProbeDelay)
        }
    }

    @Test("many refusals at once park once")
    func once() {
        var breaker = RouteBreaker()
        breaker.credentialRefused(now: 0)
        let state = breaker.state
        breaker.credentialRefused(now: 1_000_000_000)
        #expect(breaker.state == state)
    }

    @Test("an accepted probe opens the route and resets the delay")
    func recovers() {
        var breaker = RouteBreaker()
        breaker.credentialRefused(now: 0)
        breaker.tick(now: 0 + RouteBreaker.firstProbeDelay)
        breaker.credentialAccepted()
        #expect(breaker.intake == .full)
        #expect(breaker.probeDelay == RouteBreaker.firstProbeDelay)
    }

    @Test("a late acceptance of an earlier request does not unpark")
    func lateAcceptance() {
        var breaker = RouteBreaker()
        breaker.credentialRefused(now: 0)
        breaker.credentialAccepted()
        #expect(breaker.intake == .none)
    }

    @Test("a route that stopped hands back what it holds after a while, probes notwithstanding, and not once it works")
    func handsBack() {
        var breaker = RouteBreaker()
        breaker.tick(now: 1_000_000_000)
        #expect(!breaker.mayHandBack && breaker.nextTick == nil)
        let start: MonotonicTime = 2_000_000_000
        breaker.credentialRefused(now: start)
        breaker.tick(now: start)
        let probe = start + RouteBreaker.firstProbeDelay
        #expect(!breaker.mayHandBack && breaker.nextTick == probe)
        breaker.tick(now: probe)
        let due = start + RouteBreaker.handBackDelay
        #expect(breaker.intake == .one && breaker.nextTick == due)
        breaker.credentialRefused(now: probe)
        breaker.tick(now: start + (RouteBreaker.handBackDelay - .nanoseconds(1)))
        #expect(!breaker.mayHandBack)
        breaker.tick(now: due)
        #expect(breaker.intake == .none && breaker.mayHandBack)
        // It is looked at again only when the next probe is due.
        #expect(breaker.nextTick == probe + RouteBreaker.firstProbeDelay * 2)
        breaker.tick(now: probe + RouteBreaker.firstProbeDelay * 2)
        #expect(breaker.mayHandBack && breaker.nextTick == nil)
        breaker.credentialAccepted()
        breaker.tick(now: due + .seconds(60))
        #expect(!breaker.mayHandBack && breaker.nextTick == nil)
    }

    @Test("multicast jobs that were begun are split where they would wait for long, or their worker leaves")
    func splits() {
        func delays(_ breaker: RouteBreaker) -> [Duration?] {
            [(false, false), (true, false), (true, true)].map {
                breaker.splitDelay(isDraining: $0.0, isLeaving: $0.1)
            }
        }
        var breaker = RouteBreaker()
        let probe = RouteBreaker.firstProbeDelay
        #expect(delays(breaker) == [nil, nil, .zero], "a worker that leaves goes on as long as it can")
        breaker.connectivityChanged(isConnected: false, now: 0)
        breaker.tick(now: 0 + RouteBreaker.disconnectGrace)
        #expect(breaker.intake == .none && delays(breaker) == [nil, probe, .zero], "APNs may be back soon")
        breaker.tick(now: 0 + RouteBreaker.disconnectGrace + RouteBreaker.handBackDelay)
        #expect(delays(breaker) == [probe, probe, .zero])
        breaker.connectivityChanged(isConnected: true, now: 0)
        #expect(delays(breaker) == [nil, nil, .zero])
        breaker.credentialRefused(now: 0)
        #expect(delays(breaker) == [probe, probe, .zero])
    }

    @Test("errors of APNs park the route only when there is no other answer between many of them, for long enough")
    func troubles() {
        var breaker = RouteBreaker()
        var random = SplitMix64(seed: 5)
        // An APNs that takes every tenth push answers those first, and all others later.
        var now: MonotonicTime = 0
        for _ in 0..<100 {
            for _ in 0..<4 * RouteBreaker.troubleLimit {
                breaker.answered(isTrouble: true, now: now, random: &random)
                now = now + .milliseconds(1)
            }
            breaker.answered(isTrouble: false, now: now, random: &random)
        }
        #expect(breaker.intake == .full && !breaker.isTroubled)
        // Few errors in a long time are no more than errors.
        for _ in 1..<RouteBreaker.troubleLimit {
            breaker.answered(isTrouble: true, now: now, random: &random)
            now = now + RouteBreaker.troubleTime
        }
        #expect(breaker.intake == .full && !breaker.isTroubled)
        breaker.answered(isTrouble: true, now: now, random: &random)
        #expect(breaker.intake == .none && breaker.isTroubled)
        // A late answer that is no error shows that the trouble is over.
        breaker.answered(isTrouble: false, now: now, random: &random)
        #expect(breaker.intake == .full && !breaker.isTroubled)
    }

    @Test("while APNs is in trouble one job at a time is tried, after waits of up to 30 seconds, until one is taken")
    func probesTrouble() {
        var breaker = RouteBreaker()
        var random = SplitMix64(seed: 5)
        var now: MonotonicTime = 1_000_000_000
        for _ in 1..<RouteBreaker.troubleLimit { breaker.answered(isTrouble: true, now: now, random: &random) }
        now = now + RouteBreaker.troubleTime
        breaker.answered(isTrouble: true, now: now, random: &random)
        var waits: [Duration] = []
        for _ in 0..<40 {
            guard case .parked(let due) = breaker.state else { break }
            waits.append(due - now)
            now = due
            breaker.tick(now: now)
            #expect(breaker.intake == .one)
            breaker.answered(isTrouble: true, now: now, random: &random)
            // A 503 says nothing against the credential, and must not open the route all the same.
            breaker.credentialAccepted()
            #expect(breaker.intake == .none)
        }
        #expect(waits.count == 40 && waits[0] <= .seconds(2))
        #expect(waits.allSatisfy { $0 > .zero && $0 <= .seconds(30) } && waits.contains { $0 > .seconds(15) })
        breaker.tick(now: now + .seconds(30))
        breaker.answered(isTrouble: false, now: now, random: &random)
        breaker.credentialAccepted()
        #expect(breaker.intake == .full && !breaker.isTroubled)
    }

    @Test("after an outage one job shows what the connection is worth, and is kept while connections come and go")
    func relapses() {
        let grace = RouteBreaker.disconnectGrace
        var breaker = RouteBreaker()
        var random = SplitMix64(seed: 5)
        breaker.connectivityChanged(isConnected: true, now: 0)
        #expect(breaker.intake == .full)
        var now: MonotonicTime = 1_000_000_000
        breaker.connectivityChanged(isConnected: false, now: now)
        breaker.connectivityChanged(isConnected: true, now: now + (grace - .nanoseconds(1)))
        #expect(breaker.intake == .full, "it was gone for a moment only")
        breaker.connectivityChanged(isConnected: false, now: now)
        breaker.tick(now: now + grace)
        #expect(breaker.intake == .none && !breaker.awaitsProbe, "other workers may do better")
        for _ in 0..<20 {
            now = now + .seconds(40)
            breaker.connectivityChanged(isConnected: true, now: now)
            breaker.tick(now: now)
            #expect(breaker.intake == .one && breaker.awaitsProbe && breaker.state == .working)
            breaker.connectivityChanged(isConnected: false, now: now)
            breaker.tick(now: now + grace)
            #expect(breaker.intake == .none && breaker.awaitsProbe, "given back each time it would look like poison")
        }
        breaker.tick(now: now + RouteBreaker.relapseTime)
        #expect(!breaker.awaitsProbe, "no connection comes any more")
        breaker.connectivityChanged(isConnected: true, now: now)
        #expect(breaker.intake == .one)
        var lasting = breaker
        breaker.answered(isTrouble: true, now: now, random: &random)
        #expect(breaker.intake == .full, "it answers")
        // Capacity that changes is no other connection.
        lasting.connectivityChanged(isConnected: true, now: now + .seconds(1))
        lasting.tick(now: now + (RouteBreaker.provingTime - .nanoseconds(1)))
        #expect(lasting.intake == .one && lasting.nextTick.map { $0 <= now + RouteBreaker.provingTime } == true)
        lasting.tick(now: now + RouteBreaker.provingTime)
        #expect(lasting.intake == .full, "it lasts, though nothing is pushed to devices")
    }

    @Test("before the first connection jobs are taken until none can be had")
    func notConnectedYet() {
        var breaker = RouteBreaker()
        breaker.tick(now: 0)
        #expect(breaker.intake == .full && !breaker.wasConnected && breaker.nextTick == nil)
        var lucky = breaker
        lucky.connectivityChanged(isConnected: true, now: 0)
        #expect(lucky.intake == .full && lucky.wasConnected)
        breaker.connectivityChanged(isConnected: false, now: 0)
        #expect(breaker.intake == .full && breaker.nextTick == 0 + RouteBreaker.disconnectGrace)
        breaker.tick(now: 0 + RouteBreaker.disconnectGrace)
        #expect(breaker.intake == .none && !breaker.awaitsProbe && !breaker.wasConnected)
        breaker.tick(now: 0 + (RouteBreaker.disconnectGrace + RouteBreaker.handBackDelay))
        #expect(breaker.mayHandBack)
        breaker.connectivityChanged(isConnected: true, now: 0)
        #expect(breaker.intake == .full && breaker.wasConnected, "nothing was lost")
    }

    @Test("a lost connection stops the intake only when it stays away")
    func outage() {
        var breaker = RouteBreaker()
        breaker.connectivityChanged(isConnected: false, now: 100)
        #expect(breaker.intake == .full)
        #expect(breaker.nextTick == 100 + RouteBreaker.disconnectGrace)
        breaker.connectivityChanged(isConnected: false, now: 200)
        breaker.tick(now: 99 + RouteBreaker.disconnectGrace)
        #expect(breaker.intake == .full)
        let outage: MonotonicTime = 100 + RouteBreaker.disconnectGrace
        breaker.tick(now: outage)
        #expect(breaker.intake == .none && breaker.nextTick == outage + RouteBreaker.handBackDelay)
        breaker.connectivityChanged(isConnected: true, now: 0)
        #expect(breaker.intake == .full)
    }

    @Test("a connection replaced in time never stops the intake")
    func reconnect() {
        var breaker = RouteBreaker()
        breaker.connectivityChanged(isConnected: false, now: 0)
        breaker.connectivityChanged(isConnected: true, now: 10)
        breaker.tick(now: 0 + RouteBreaker.disconnectGrace * 2)
        #expect(breaker.intake == .full)
    }
}

@Suite("A route's credit", .timeLimit(.minutes(1)))
struct RouteCreditTests {
    /// Enough for any window of small messages.
    private static let share = 32 << 20

    /// A credit that has seen many messages of one notification each.
    private func credit(rate: Double? = nil) -> RouteCredit {
        var credit = RouteCredit(fixed: nil, rate: rate)
        for _ in 0..<200 { credit.arrived(notifications: 1, bytes: 500) }
        return credit
    }

    @Test("before a body was seen, all are taken for the largest; small ones open the window soon")
    func unknown() {
        var credit = RouteCredit(fixed: nil, rate: nil)
        #expect(credit.wanted(streams: 1_000, share: Self.share) == 96)
        for _ in 0..<64 { credit.arrived(notifications: 1, bytes: 500) }
        #expect(credit.wanted(streams: 1_000, share: Self.share) == 1_500)
    }

    @Test(
        "prefetch is one and a half times the streams, within bounds",
        arguments: [(0, 32), (1, 32), (21, 32), (100, 150), (1_000, 1_500), (4_000, 2_000)])
    func single(streams: Int, wanted: Int) {
        #expect(credit().wanted(streams: streams, share: Self.share) == wanted)
    }

    @Test("a fixed prefetch is kept")
    func fixed() {
        let credit = RouteCredit(fixed: 7, rate: nil)
        #expect(credit.wanted(streams: 1_000, share: 1) == 7 && credit.demand(streams: 1_000) == 0)
    }

    @Test("five minutes of the rate is the most a worker holds")
    func rate() {
        #expect((149...150).contains(credit(rate: 0.5).wanted(streams: 1_000, share: Self.share)))
    }

    @Test("five minutes of the rate are counted in notifications, and one message is held in any case")
    func multicastRate() {
        for (rate, expected) in [(10.0, 3), (1.0, 1), (0.1, 1)] {
            var credit = credit(rate: rate)
            for _ in 0..<200 { credit.arrived(notifications: 1_000, bytes: 100_000) }
            #expect(credit.wanted(streams: 100_000, share: Self.share) == expected)
        }
    }

    @Test(
        "no window of a campaign's first jobs takes longer than five minutes at the rate, where it has several",
        arguments: [0.1, 0.5, 10, 100, 1_000])
    func firstCampaign(rate: Double) {
        var credit = RouteCredit(fixed: nil, rate: rate)
        for _ in 0..<200 {
            let wanted = credit.wanted(streams: 1_000, share: Self.share)
            #expect(wanted == 1 || Double(wanted) * 1_000 / rate <= 300)
            credit.arrived(notifications: 1_000, bytes: 100_000)
        }
    }

    @Test(
        "a route of single jobs has room for a third of a second's worth at first, and its whole window soon",
        arguments: [(0.1, 1, 30), (0.5, 1, 150), (10, 3, 1_500), (100, 30, 1_500), (1_000, 96, 1_500)])
    func firstSingle(rate: Double, first: Int, last: Int) {
        var credit = RouteCredit(fixed: nil, rate: rate)
        #expect(credit.wanted(streams: 1_000, share: Self.share) == first)
        for _ in 0..<128 {
            let before = credit.wanted(streams: 1_000, share: Self.share)
            credit.arrived(notifications: 1, bytes: 500)
            #expect(credit.wanted(streams: 1_000, share: Self.share) >= before)
        }
        #expect(credit.wanted(streams: 1_000, share: Self.share) * 4 >= last * 3)
    }

    @Test("messages that carry many notifications count as many")
    func multicast() {
        var credit = RouteCredit(fixed: nil, rate: nil)
        for _ in 0..<200 { credit.arrived(notifications: 100, bytes: 9_000) }
        let wanted = credit.wanted(streams: 1_000, share: Self.share)
        #expect((15...16).contains(wanted))
    }

    @Test(
        "messages fill three quarters of their share, and one is held in any case",
        arguments: [(1 << 30, 1_500), (4 << 20, 12), (1 << 20, 3), (512 << 10, 1), (1, 1)])
    func bytes(share: Int, wanted: Int) {
        var credit = RouteCredit(fixed: nil, rate: nil)
        for _ in 0..<200 { credit.arrived(notifications: 1, bytes: 256 << 10) }
        #expect(credit.wanted(streams: 1_000, share: share) == wanted)
        #expect(credit.bytes(of: wanted) <= share)
    }

    @Test("the share that is asked for has room for the window that the streams need")
    func demand() {
        let credit = credit()
        let demand = credit.demand(streams: 1_000)
        #expect(credit.wanted(streams: 1_000, share: demand + 1_000) == 1_500)
        #expect((1_000_000...1_010_000).contains(demand))
    }

    @Test("only a change by half or double is worth a new consumer")
    func worth() {
        let credit = RouteCredit(fixed: nil, rate: nil)
        #expect(credit.isWorthChanging(from: 32, to: 1_500))
        #expect(credit.isWorthChanging(from: 1_500, to: 700))
        #expect(!credit.isWorthChanging(from: 1_000, to: 1_500))
    }
}
