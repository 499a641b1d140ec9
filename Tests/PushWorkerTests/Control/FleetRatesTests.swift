import EventLoop
import Testing

@testable import PushWorker

@Suite("Parts of a rate that is set for all workers", .timeLimit(.minutes(1)))
struct FleetRatesTests {
    /// What a count finds: consumers of all workers, and how many of them are this worker's.
    typealias Count = (all: Int, own: Int)

    /// Counts, one after the other, and the part of 100 a second in the end.
    struct Row: Sendable, CustomTestStringConvertible {
        let counts: [Count]
        let part: Double
        var hold: FleetRates.Hold?
        var testDescription: String { "\(counts)" }
    }

    @Test(
        "A worker's part is that of its consumer among all that were counted lately",
        arguments: [
            Row(counts: [], part: 100),
            // It begins: it is added until it is counted.
            Row(counts: [(0, 0)], part: 100, hold: .count), Row(counts: [(3, 0)], part: 25, hold: .count),
            Row(counts: [(3, 0), (4, 1)], part: 25),
            // Many begin together.
            Row(counts: [(0, 0), (10, 1)], part: 10), Row(counts: [(0, 0), (10, 0)], part: 100.0 / 11, hold: .count),
            // The rate is new, and the worker is not.
            Row(counts: [(4, 1)], part: 25),
            // Others began, and others ended: the second count without them counts.
            Row(counts: [(1, 1), (2, 1)], part: 50), Row(counts: [(4, 1), (2, 1)], part: 25),
            Row(counts: [(4, 1), (2, 1), (2, 1)], part: 50),
            // A consumer that is started again is missing in one count.
            Row(counts: [(2, 1), (1, 1), (2, 1)], part: 50),
            // The worker drains, and still sends.
            Row(counts: [(2, 1), (1, 0), (1, 0)], part: 50),
            // The route was paused in all workers, and goes on.
            Row(counts: [(4, 1), (4, 1), (0, 0), (0, 0), (0, 0)], part: 25),
            Row(counts: [(4, 1), (4, 1), (0, 0), (0, 0), (1, 1)], part: 25),
            // APNs failed one worker after the other, and works again for all.
            Row(counts: [(4, 1), (3, 0), (2, 0), (1, 0), (0, 0)], part: 25),
            Row(counts: [(4, 1), (3, 1), (2, 0), (1, 0), (0, 0)], part: 100.0 / 3),
            Row(counts: [(4, 1), (3, 0), (1, 0), (0, 0), (2, 1), (4, 1)], part: 25),
            // Others began meanwhile.
            Row(counts: [(4, 1), (0, 0), (9, 0)], part: 10),
            // The broker's count is older than the lane's report.
            Row(counts: [(1, 1), (0, 1)], part: 100),
        ])
    func part(_ row: Row) {
        var rates = FleetRates()
        for count in row.counts {
            rates.counted(count.all, of: "shop", isConsuming: count.own > 0)
        }
        rates.counted(50, of: "other", isConsuming: true)
        let part = rates.part(of: 100, route: "shop")
        #expect(part == FleetRates.Part(perSecond: row.part, hold: row.hold))
    }

    @Test("A route that was paused before its consumers were counted waits until it goes on and they are counted")
    func paused() {
        var rates = FleetRates()
        rates.paused("shop")
        let whole = FleetRates.Part(perSecond: 100, hold: .pause)
        #expect(rates.part(of: 100, route: "shop") == whole)
        let start = MonotonicTime(nanoseconds: 1)
        let rate = whole.rate(now: start)
        #expect(rate.available(now: start + .seconds(3600)) == 0 && rate.promised == 0)
        rates.counted(0, of: "shop", isConsuming: false)
        let resumed = rates.part(of: 100, route: "shop")
        #expect(resumed == FleetRates.Part(perSecond: 100, hold: .count))
        #expect(resumed.rate(now: start, after: rate).available(now: start + FleetRates.hold) == 0)
        rates.counted(10, of: "shop", isConsuming: true)
        let part = rates.part(of: 100, route: "shop")
        #expect(part == FleetRates.Part(perSecond: 10) && part.rate(now: start).promised == 10)
        // A pause does not take away what is known.
        rates.paused("shop")
        #expect(rates.part(of: 100, route: "shop") == part)
    }

    @Test("A route that goes on without ever being counted has the whole rate, for no count will come")
    func uncounted() {
        var rates = FleetRates()
        rates.paused("shop")
        rates.countRefused("shop")
        #expect(rates.part(of: 100, route: "shop") == FleetRates.Part(perSecond: 100))
        for _ in 0..<2 { rates.counted(10, of: "shop", isConsuming: true) }
        rates.countRefused("shop")
        let counted = rates.part(of: 100, route: "shop")
        #expect(counted == FleetRates.Part(perSecond: 10), "an earlier count stands")
        rates.counted(9, of: "idle", isConsuming: false)
        rates.countRefused("idle")
        let idle = rates.part(of: 100, route: "idle")
        #expect(idle == FleetRates.Part(perSecond: 10), "it is never counted itself")
    }

    @Test("The parts of several workers that know of each other are never more than the rate", arguments: [1, 2, 3, 7])
    func sum(workers: Int) {
        var rates = FleetRates()
        for _ in 0..<3 { rates.counted(workers, of: "shop", isConsuming: true) }
        let part = rates.part(of: 90, route: "shop")
        #expect(abs(part.perSecond * Double(workers) - 90) < 0.001)
    }

    @Test("A part begins with nothing saved up; one that is held begins when the hold is over")
    func bucket() {
        let start = MonotonicTime(nanoseconds: 1)
        let begun = FleetRates.Part(perSecond: 20).rate(now: start)
        #expect(begun.available(now: start) == 0)
        #expect(begun.available(now: start + .milliseconds(50)) == 1)
        let held = FleetRates.Part(perSecond: 20, hold: .count).rate(now: start)
        #expect(held.available(now: start + FleetRates.hold) == 0)
        #expect(held.nextDue(now: start) == start + FleetRates.hold + .milliseconds(50))
        #expect(held.available(now: start + FleetRates.hold + .milliseconds(50)) == 1)
        // What was saved up stays, when the part changes.
        let later = FleetRates.Part(perSecond: 10).rate(now: start + .milliseconds(75), after: begun)
        #expect(later.available(now: start + .milliseconds(75)) == 1)
        #expect(later.nextDue(now: start + .milliseconds(75)) == start + .milliseconds(75))
    }

    @Test("A route whose rate ended is counted anew when it has one again")
    func forgotten() {
        var rates = FleetRates()
        for _ in 0..<3 { rates.counted(10, of: "shop", isConsuming: true) }
        rates.forget { $0 == "other" }
        rates.counted(2, of: "shop", isConsuming: true)
        #expect(rates.part(of: 100, route: "shop").perSecond == 50)
    }
}
