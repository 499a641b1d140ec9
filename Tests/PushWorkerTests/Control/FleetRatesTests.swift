import Testing

@testable import PushWorker

@Suite("Parts of a rate that is set for all workers", .timeLimit(.minutes(1)))
struct FleetRatesTests {
    /// Counts of consumers, one after the other, and the part of 100 a second in the end.
    struct Row: Sendable, CustomTestStringConvertible {
        let counts: [Int]
        let lanes: Int
        let part: Double
        var testDescription: String { "\(counts), \(lanes) lanes" }
    }

    @Test(
        "A worker's part is that of its consumers among all that were counted lately",
        arguments: [
            // Nothing could be counted.
            Row(counts: [], lanes: 1, part: 100),
            // The first count may be from before this worker's consumers began.
            Row(counts: [0], lanes: 1, part: 100), Row(counts: [3], lanes: 1, part: 25),
            Row(counts: [3, 4], lanes: 1, part: 25), Row(counts: [4, 4, 4], lanes: 1, part: 25),
            Row(counts: [8, 8, 8], lanes: 2, part: 25),
            // Others began, and others ended: the second count without them counts.
            Row(counts: [1, 1, 2], lanes: 1, part: 50), Row(counts: [4, 4, 2], lanes: 1, part: 25),
            Row(counts: [4, 4, 2, 2], lanes: 1, part: 50),
            // A consumer that is started again is missing in one count.
            Row(counts: [2, 2, 1, 2], lanes: 1, part: 50),
            // The route was paused in all workers, and goes on.
            Row(counts: [4, 4, 0, 0, 0], lanes: 1, part: 25), Row(counts: [4, 4, 0, 0, 1], lanes: 1, part: 25),
            // Nobody consumes at the moment.
            Row(counts: [1, 1, 0], lanes: 1, part: 100), Row(counts: [1, 1, 1], lanes: 4, part: 100),
        ])
    func part(_ row: Row) {
        var rates = FleetRates()
        for count in row.counts { rates.counted(count, of: "shop", lanes: row.lanes) }
        rates.counted(50, of: "other", lanes: row.lanes)
        let part = rates.part(of: 100, route: "shop", lanes: row.lanes)
        #expect(part == FleetRates.Part(perSecond: row.part, lanes: row.lanes))
    }

    @Test("The parts of several workers that know of each other are never more than the rate", arguments: [1, 2, 3, 7])
    func sum(workers: Int) {
        for lanes in [1, 2, 4] {
            var rates = FleetRates()
            for _ in 0..<3 { rates.counted(workers * lanes, of: "shop", lanes: lanes) }
            let part = rates.part(of: 90, route: "shop", lanes: lanes)
            #expect(abs(part.perSecond * Double(workers) - 90) < 0.001)
        }
    }

    @Test("A route whose rate ended is counted anew when it has one again")
    func forgotten() {
        var rates = FleetRates()
        for _ in 0..<3 { rates.counted(10, of: "shop", lanes: 1) }
        rates.forget { $0 == "other" }
        rates.counted(1, of: "shop", lanes: 1)
        #expect(rates.part(of: 100, route: "shop", lanes: 1).perSecond == 50)
    }
}
