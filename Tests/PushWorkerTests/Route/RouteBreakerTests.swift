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
        // A late answer that is not an error shows that the trouble is over.
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
            // A 503 says nothing against the credential, but must not open the route.
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
        // Capacity that changes is not another connection.
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

    @Test("Answers says when a route parks, and when it probes")
    func page() throws {
        let page = try Page(documentation: "Answers")
        let rows = page.rows("why", in: "A route that parks").map { Array($0.dropFirst()) }
        try #require(rows.count == 4)
        func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
        let longest = seconds(RouteBreaker.longestProbeDelay)
        #expect(
            rows[0] == [
                "at once, on a connection that has had [no push accepted](Credentials.md#when-apns-refuses-one)",
                "after \(seconds(RouteBreaker.firstProbeDelay))", "the wait doubles, up to \(longest)",
            ])
        let errors = "\(RouteBreaker.troubleLimit) answers in a row of 429 or 5xx, or that are not APNs'"
        let waits = RouteBreaker.freshBackoff
        #expect(
            rows[1] == [
                "\(errors), over at least \(seconds(RouteBreaker.troubleTime))", "after at most \(seconds(waits.base))",
                "the wait doubles, up to \(seconds(waits.cap))",
            ])
        #expect(rows[2][0] == "no connection for \(seconds(RouteBreaker.disconnectGrace))")
        let text = page.text(of: "A route that parks")
        #expect(text.contains("After \(seconds(RouteBreaker.handBackDelay)) a stopped route gives its unsent jobs"))
        #expect(text.contains("or a connection has lasted \(seconds(RouteBreaker.provingTime))."))
    }
}
