import EventLoop
import TestSupport
import Testing
import Text

@testable import PushWorker

@Suite("The watch for poisonous jobs", .timeLimit(.minutes(1)))
struct PoisonWatchTests {
    typealias Watch = PoisonWatch<String>

    private var random = SplitMix64(seed: 1)
    /// Later than any suspect waits.
    private let late: MonotonicTime = 60_000_000_000

    /// A watch that has seen a harmless delivery.
    private func wide() -> Watch {
        var watch = Watch()
        watch.consumeStarted(now: 0)
        let treatment = watch.delivered(count: 0)
        #expect(treatment == .ordinary && !watch.isNarrow)
        return watch
    }

    @Test(
        "How often a delivery came back decides about it",
        arguments: [(0, "ordinary"), (2, "ordinary"), (3, "alone"), (19, "alone"), (20, "refused"), (.max, "refused")])
    func treatments(count: Int64, expected: String) {
        var watch = Watch()
        let treatment = watch.delivered(count: count)
        #expect("\(treatment)" == expected)
        #expect(watch.isNarrow == (expected != "ordinary"))
    }

    @Test(
        "What is known to have been worked on is not refused; what only the journal knows is, after some more returns",
        arguments: [
            (19, .none, "alone"), (20, .none, "refused"), (20, .journalled, "alone"), (24, .journalled, "alone"),
            (25, .journalled, "refused"), (25, .remembered, "alone"), (2, .remembered, "ordinary"),
        ] as [(Int64, Watch.Knowledge, String)])
    func knowledge(count: Int64, knowledge: Watch.Knowledge, expected: String) {
        var watch = Watch()
        let treatment = watch.delivered(count: count, knowledge: knowledge)
        #expect("\(treatment)" == expected)
    }

    @Test("Operating says how often a job comes back before it is taken up alone, and before it is refused")
    func page() throws {
        let page = try Page(documentation: "Operating")
        let (suspicion, limit) = (Watch.suspicion, Watch.limit)
        let listed = page.rows("returns", in: "Jobs that come back").map { $0[0] }
        #expect(
            listed == [
                "fewer than \(suspicion)", "\(suspicion) to \(limit - 1)", "\(limit)",
                "\(limit + Watch.journalledReturns)", "more than 50",
            ])
    }

    @Test("A channel begins narrow, until a harmless delivery comes, or none for a while")
    func look() {
        #expect(!wide().isNarrow)
        var watch = Watch()
        #expect(watch.due == nil)
        watch.tick(now: late)
        #expect(watch.isNarrow, "nothing was asked for yet")
        watch.consumeStarted(now: 5)
        #expect(watch.due == 5 + Watch.lookTime)
        watch.tick(now: 4 + Watch.lookTime)
        #expect(watch.isNarrow)
        watch.tick(now: 5 + Watch.lookTime)
        #expect(!watch.isNarrow && watch.due == nil)
        watch.consumeStarted(now: late)
        #expect(!watch.isNarrow, "a change of prefetch is not a new channel")
    }

    @Test("A suspect is taken up alone, and the route stays narrow until it is through and what follows is harmless")
    mutating func alone() {
        var watch = wide()
        watch.hold("suspect", count: 3, now: 0, random: &random)
        #expect(watch.isNarrow && watch.heldCount == 1)
        #expect(watch.takeNext(isAlone: false, now: late) == nil)
        #expect(watch.takeNext(isAlone: true, now: late) == "suspect")
        #expect(watch.heldCount == 0 && watch.hasSuspects && watch.due == nil)
        #expect(watch.delivered(count: 0) == .ordinary)
        #expect(watch.isNarrow, "it is not through yet")
        #expect(watch.takeNext(isAlone: true, now: late) == nil)
        #expect(watch.isNarrow && !watch.hasSuspects, "the next delivery decides")
        #expect(watch.delivered(count: 3) == .alone)
        #expect(watch.isNarrow)
        #expect(watch.delivered(count: 1) == .ordinary)
        #expect(!watch.isNarrow)
    }

    @Test("Of several suspects those that came back least often go first, one after the other")
    mutating func order() {
        var watch = wide()
        for (name, count) in [("nine", 9), ("three", 3), ("five", 5)] as [(String, Int64)] {
            watch.hold(name, count: count, now: 0, random: &random)
        }
        let taken = (0..<4).map { _ in watch.takeNext(isAlone: true, now: late) }
        #expect(taken == ["three", "five", "nine", nil])
    }

    @Test("A suspect waits a random time, longer the more often it came back", arguments: 3...19 as ClosedRange<Int64>)
    mutating func waits(count: Int64) throws {
        let most = Watch.longestWait * Int(1 << min(7, count - 3))
        var dues: Set<MonotonicTime> = []
        for _ in 0..<50 {
            var watch = wide()
            watch.hold("one", count: count, now: 1_000, random: &random)
            let due = try #require(watch.due)
            #expect(due >= 1_000 && due <= 1_000 + most)
            #expect(watch.takeNext(isAlone: true, now: MonotonicTime(nanoseconds: due.nanoseconds - 1)) == nil)
            #expect(watch.takeNext(isAlone: true, now: due) == "one")
            dues.insert(due)
        }
        #expect(dues.count > 25)
    }

    @Test("Suspects that are given back leave a route that looks again")
    mutating func givenBack() {
        var watch = wide()
        watch.hold("a", count: 3, now: 0, random: &random)
        watch.hold("b", count: 4, now: 0, random: &random)
        #expect(watch.takeAll() == ["a", "b"])
        #expect(watch.isNarrow && !watch.hasSuspects && watch.due == nil)
        watch.consumeStarted(now: late)
        #expect(watch.due == late + Watch.lookTime)
        #expect(watch.takeAll() == [])
    }
}
