import EventLoop
import TestSupport
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("A route's part in the memory for jobs", .timeLimit(.minutes(1)))
struct MemoryClaimTests {
    private static let mebibyte = 1 << 20
    private let start: MonotonicTime = 1_000_000_000
    private var later: MonotonicTime { start + MemoryClaim.patience + .seconds(1) }
    private var muchLater: MonotonicTime { later + MemoryClaim.patience + .seconds(1) }

    /// A route whose prefetch is used, and which holds as much as it may.
    private func busy(_ claim: MemoryClaim, demand: Int = 1 << 30) -> MemoryClaim.Use {
        MemoryClaim.Use(demand: demand, isFull: true, held: claim.share)
    }

    @Test("a route that has nothing to do, or enough with its part, asks for nothing")
    func quiet() {
        let budget = SharedMemoryBudget(bytes: 64 * Self.mebibyte, queues: 4)
        var claim = MemoryClaim(budget, queues: 2)
        claim.follow(MemoryClaim.Use(demand: 1 << 30), now: start)
        claim.follow(MemoryClaim.Use(demand: 8 * Self.mebibyte, isFull: true), now: start)
        #expect(claim.share == 8 * Self.mebibyte && claim.lent == 0 && claim.nextDue(after: start) == nil)
    }

    @Test("with more queues each has a smaller part, and a route that ends gives back everything")
    func turnover() {
        let budget = SharedMemoryBudget(bytes: 64 * Self.mebibyte, queues: 4)
        var claim = MemoryClaim(budget, queues: 2)
        claim.follow(busy(claim), now: start)
        #expect(claim.lent == 16 * Self.mebibyte && budget.free == 0)
        budget.divide(among: 8)
        #expect(budget.part == 4 * Self.mebibyte && claim.share == 20 * Self.mebibyte)
        claim.release()
        #expect(claim.lent == 0 && budget.free == 32 * Self.mebibyte && claim.nextDue(after: start) == nil)
        claim.follow(MemoryClaim.Use(demand: 1 << 30), now: start)
        #expect(claim.lent == 0)
        budget.divide(among: 4)
        #expect(budget.part == 8 * Self.mebibyte)
    }

    @Test("one busy route among many that are quiet has half of all, and many busy ones share it")
    func fair() {
        let budget = SharedMemoryBudget(bytes: 256 * Self.mebibyte, queues: 600)
        var claims = (0..<300).map { _ in MemoryClaim(budget, queues: 2) }
        claims[0].follow(busy(claims[0]), now: start)
        #expect(claims[0].lent == 64 * Self.mebibyte)
        // The others find nothing free until the first one knows that it has to share.
        for index in 1..<300 { claims[index].follow(busy(claims[index]), now: start) }
        #expect(claims[1...].allSatisfy { $0.lent == 0 })
        for _ in 0..<2 { for index in 0..<300 { claims[index].follow(busy(claims[index]), now: start) } }
        #expect(claims.allSatisfy { $0.lent == 128 << 10 })
    }

    @Test("what is lent goes back only when no more is held than the share has room for")
    func ceding() {
        let budget = SharedMemoryBudget(bytes: 64 * Self.mebibyte, queues: 4)
        var (first, second) = (MemoryClaim(budget, queues: 1), MemoryClaim(budget, queues: 1))
        first.follow(busy(first), now: start)
        #expect(first.share == 40 * Self.mebibyte && first.nextDue(after: start) == start + MemoryClaim.patience)
        second.follow(busy(second), now: start)
        first.follow(MemoryClaim.Use(demand: 1 << 30, isFull: true, held: 40 * Self.mebibyte), now: start)
        #expect(first.share == 24 * Self.mebibyte && first.lent == 32 * Self.mebibyte)
        #expect(first.nextDue(after: start) == start + MemoryClaim.cedingInterval)
        second.follow(busy(second), now: start)
        #expect(second.lent == 0)
        first.follow(busy(first), now: start)
        second.follow(busy(second), now: start)
        #expect(first.lent == 16 * Self.mebibyte && second.lent == 16 * Self.mebibyte)
    }

    @Test("a route that does not use what it was lent gives it back")
    func resting() {
        let budget = SharedMemoryBudget(bytes: 64 * Self.mebibyte, queues: 4)
        var claim = MemoryClaim(budget, queues: 1)
        let idle = MemoryClaim.Use(demand: 1 << 30)
        claim.follow(busy(claim), now: start)
        claim.follow(idle, now: later)
        #expect(claim.lent == 32 * Self.mebibyte, "it was used in the time that has just ended")
        claim.follow(idle, now: muchLater)
        #expect(claim.lent == 0 && budget.free == 32 * Self.mebibyte && claim.nextDue(after: muchLater) == nil)
    }

    @Test("a route that stops gives everything back as soon as its jobs are gone")
    func stopping() {
        let budget = SharedMemoryBudget(bytes: 64 * Self.mebibyte, queues: 4)
        var claim = MemoryClaim(budget, queues: 1)
        claim.follow(busy(claim), now: start)
        claim.follow(MemoryClaim.Use(held: 30 * Self.mebibyte), now: start)
        #expect(claim.lent == 32 * Self.mebibyte && claim.share == 8 * Self.mebibyte)
        claim.follow(MemoryClaim.Use(), now: start)
        #expect(claim.lent == 0)
    }

    @Test("sizes that vary by less than half change nothing")
    func steady() {
        let budget = SharedMemoryBudget(bytes: 64 * Self.mebibyte, queues: 8)
        var claim = MemoryClaim(budget, queues: 1)
        for demand in [11, 7, 9, 12, 7] {
            claim.follow(busy(claim, demand: demand * Self.mebibyte), now: start)
            #expect(claim.lent == 8 * Self.mebibyte)
        }
        for _ in 0..<2 { claim.follow(busy(claim, demand: 5 * Self.mebibyte), now: start) }
        #expect(claim.lent == 1 * Self.mebibyte)
    }

    @Test("whatever routes do, all of them together never have more than there is")
    func never() {
        let (bytes, queues) = (64 * Self.mebibyte, 2)
        let budget = SharedMemoryBudget(bytes: bytes, queues: 50 * queues)
        var claims = (0..<50).map { _ in MemoryClaim(budget, queues: queues) }
        var (random, now) = (UInt64(7), start)
        func draw(_ limit: UInt64) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % limit)
        }
        for _ in 0..<20_000 {
            let index = draw(50)
            let use = MemoryClaim.Use(
                demand: 1 << draw(31), isFull: draw(3) > 0, held: draw(2) == 0 ? 0 : claims[index].share)
            claims[index].follow(use, now: now)
            now = now + .milliseconds(Int64(draw(200)))
            #expect(claims.reduce(0) { $0 + queues * (budget.part + $1.lent) } <= bytes)
            #expect(claims.reduce(0) { $0 + queues * $1.lent } + budget.free == bytes / 2)
        }
        // All rest: nothing is lost.
        for step in 1...3 {
            for index in claims.indices {
                claims[index].follow(MemoryClaim.Use(), now: now + .seconds(Int64(60 * step)))
            }
        }
        #expect(budget.free == bytes / 2 && budget.level == 1 << 39)
    }
}
