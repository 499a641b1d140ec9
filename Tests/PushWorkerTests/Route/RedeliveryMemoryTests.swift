import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("The memory of redeliveries", .timeLimit(.minutes(1)))
struct RedeliveryMemoryTests {
    private final class Work: Equatable {
        static func == (left: Work, right: Work) -> Bool { left === right }
    }
    private typealias Unfinished = RedeliveryMemory<Int, Work>.Unfinished

    /// A memory, and what its channel settled.
    private struct Memory {
        var recent = RecentSettlements<Int>()
        var all = RedeliveryMemory<Int, Work>()
        var count: Int { all.count }
        var bytes: Int { all.bytes }

        mutating func settled(_ key: Int, as origin: DeliveryOrigin = DeliveryOrigin(), now: MonotonicTime) {
            recent.note(key, as: origin, now: now)
        }

        mutating func generationEnded(unsent: [Int], unfinished: [Unfinished], now: MonotonicTime) {
            all.generationEnded(settled: recent.takeAll(), unsent: unsent, unfinished: unfinished, now: now)
            all.channelClosed(now: now)
        }
    }

    private let second = Duration.seconds(1)

    /// A time on the monotonic clock.
    private func at(_ time: Duration) -> MonotonicTime { 0 + time }

    /// What was found, in a form that can be compared.
    private func find(_ key: Int, in memory: inout Memory, now: MonotonicTime = 1) -> String {
        switch memory.all.redelivered(key, now: now) {
        case .unknown, .unsent: "unknown"
        case .settled: "settled"
        case .unfinished: "unfinished"
        }
    }

    @Test("Nothing is known of a generation that goes on: another worker lost the delivery")
    func presentGeneration() {
        var memory = Memory()
        memory.settled(1, now: 0)
        #expect(find(1, in: &memory) == "unknown")
    }

    @Test("What an ended generation settled, was working on, and had not sent is told apart, each once")
    func kinds() {
        var memory = Memory()
        let work = Work()
        memory.settled(1, now: 0)
        memory.generationEnded(unsent: [3], unfinished: [Unfinished(key: 2, job: work, bytes: 1)], now: 1)
        #expect((1...4).map { find($0, in: &memory) } == ["settled", "unfinished", "unknown", "unknown"])
        #expect((1...4).map { find($0, in: &memory) } == ["unknown", "unknown", "unknown", "unknown"])
        #expect(memory.count == 0)
    }

    @Test("A job published twice is pushed twice, whichever of the two was settled when the channel died")
    func publishedTwice() {
        var memory = Memory()
        memory.settled(1, now: 0)
        memory.generationEnded(unsent: [1], unfinished: [], now: 0)
        #expect((0..<3).map { _ in find(1, in: &memory) } == ["unknown", "settled", "unknown"])
    }

    @Test("Two unfinished deliveries of one job are taken over by two redeliveries")
    func unfinishedTwice() {
        var memory = Memory()
        memory.generationEnded(
            unsent: [], unfinished: (0..<2).map { _ in Unfinished(key: 1, job: Work(), bytes: 1) }, now: 0)
        #expect((0..<3).map { _ in find(1, in: &memory) } == ["unfinished", "unfinished", "unknown"])
    }

    @Test("A job that is settled after its channel died is let go, and its redelivery still recognised")
    func finishedLater() {
        var memory = Memory()
        var work: Work? = Work()
        weak let held = work
        if let work {
            memory.generationEnded(unsent: [], unfinished: [Unfinished(key: 1, job: work, bytes: 1)], now: 0)
        }
        if let work {
            memory.all.finished(1, work)
            memory.all.finished(1, work)
            memory.all.finished(2, work)
        }
        work = nil
        #expect(held == nil)
        #expect(find(1, in: &memory) == "settled")
        #expect(find(1, in: &memory) == "unknown")
    }

    @Test("A job whose copy looks the same is forgotten once it is settled: its copy must be pushed")
    func copies() {
        var memory = Memory()
        let work = Work()
        memory.generationEnded(unsent: [], unfinished: [Unfinished(key: 1, job: work, bytes: 1)], now: 0)
        memory.all.finished(1, work, isRemembered: false)
        #expect(find(1, in: &memory) == "unknown")
        #expect(memory.count == 0)
    }

    @Test("A delivery that went back unsent is pushed when it comes again, though its twin was settled")
    func handedBack() {
        var memory = Memory()
        memory.settled(1, now: 0)
        memory.generationEnded(unsent: [], unfinished: [], now: 0)
        memory.all.handedBack(1, now: 0)
        memory.all.handedBack(2, now: 0)
        #expect((0..<2).map { _ in find(1, in: &memory) } == ["unknown", "settled"])
        #expect(find(2, in: &memory) == "unknown")
    }

    @Test("A delivery that went back unsent is not taken for a twin that was settled before, or is later")
    func handedBackFirst() {
        for isSettledFirst in [true, false] {
            var memory = Memory()
            if isSettledFirst { memory.settled(1, now: 0) }
            memory.all.handedBack(1, now: 0)
            if !isSettledFirst { memory.settled(1, now: 0) }
            memory.generationEnded(unsent: [], unfinished: [], now: 0)
            #expect((0..<2).map { _ in find(1, in: &memory) } == ["unknown", "settled"])
        }
        // One that came again meanwhile is not a twin: where its acknowledgement is lost, it was pushed already.
        var memory = Memory()
        memory.all.handedBack(1, now: 0)
        #expect(find(1, in: &memory) == "unknown")
        memory.settled(1, now: 0)
        memory.generationEnded(unsent: [], unfinished: [], now: 0)
        #expect((0..<2).map { _ in find(1, in: &memory) } == ["settled", "unknown"])
    }

    @Test("The time without a channel does not count, however often a connect fails")
    func outage() {
        let lifetime = RedeliveryMemory<Int, Work>.lifetime
        var memory = Memory()
        memory.settled(1, now: 0)
        memory.generationEnded(
            unsent: [], unfinished: [Unfinished(key: 2, job: Work(), bytes: 1)], now: at(lifetime - second))
        for minute in 1...59 {
            memory.generationEnded(unsent: [], unfinished: [], now: at(lifetime + second * (60 * minute)))
        }
        let back = at(lifetime - second + RedeliveryMemory<Int, Work>.longestPause)
        memory.all.channelOpened(now: back)
        memory.all.forgetIfDue(now: back)
        #expect(memory.count == 2)
        // The settled one had a second left, the other one all of its time.
        memory.all.forgetIfDue(now: back + second)
        #expect(memory.count == 1)
        #expect(find(2, in: &memory, now: back + (lifetime - .nanoseconds(1))) == "unfinished")
    }

    @Test("An outage of days does not keep it for days")
    func longOutage() {
        let lifetime = RedeliveryMemory<Int, Work>.lifetime
        var memory = Memory()
        memory.settled(1, now: 0)
        memory.generationEnded(unsent: [], unfinished: [], now: 0)
        let back = at(second * (48 * 3_600))
        memory.all.channelOpened(now: back)
        memory.all.forgetIfDue(now: back)
        #expect(memory.count == 0 && back > at(lifetime + RedeliveryMemory<Int, Work>.longestPause))
    }

    @Test(
        "What came back more than once, and more often than it was held unread, another worker may have had: it is pushed",
        arguments: [
            (0, 0, 1, 0, true), (0, 0, 2, 0, false), (0, 0, 2, 1, true), (0, 0, 3, 1, false), (2, 5, 3, 5, true),
            (2, 5, 4, 5, false), (2, 5, 5, 7, true), (2, 5, 6, 7, false),
            // No count, as of classic queues; a count that starts again; a number that overflowed.
            (0, 1, 0, 1, true), (3, 1, 0, 1, true), (0, UInt32.max, 2, 0, true), (0, UInt32.max, 3, 0, false),
        ] as [(Int64, UInt32, Int64, UInt32, Bool)])
    func elsewhere(_ row: (Int64, UInt32, Int64, UInt32, Bool)) {
        let first = DeliveryOrigin(returns: row.0, unreadReturns: row.1)
        let origin = DeliveryOrigin(returns: row.2, unreadReturns: row.3)
        var memory = Memory()
        let work = Work()
        memory.settled(1, as: first, now: 0)
        memory.generationEnded(
            unsent: [], unfinished: [Unfinished(key: 2, job: work, bytes: 1, origin: first)], now: 0)
        for key in [1, 2] {
            let finding = memory.all.redelivered(key, as: origin, now: 1)
            let isKnown = if case .unknown = finding { false } else { true }
            #expect(isKnown == row.4, "\(key)")
        }
        #expect(memory.count == 0 && memory.bytes == 0)
    }

    @Test("The memory ends after its lifetime, and a settled job is too old then as well")
    func lifetime() {
        let lifetime = RedeliveryMemory<Int, Work>.lifetime
        var memory = Memory()
        memory.settled(1, now: 0)
        memory.settled(2, now: at(second))
        memory.generationEnded(unsent: [], unfinished: [], now: at(lifetime))
        memory.all.channelOpened(now: at(lifetime))
        #expect(find(1, in: &memory, now: at(lifetime)) == "unknown")
        #expect(find(2, in: &memory, now: at(lifetime * 2)) == "unknown")
        #expect(memory.count == 0)
    }

    @Test("A second channel loss keeps what the first one left, and one without news changes nothing")
    func twoLosses() {
        let lifetime = RedeliveryMemory<Int, Work>.lifetime
        var memory = Memory()
        memory.settled(1, now: 0)
        memory.generationEnded(unsent: [], unfinished: [], now: 0)
        memory.all.channelOpened(now: 0)
        memory.generationEnded(unsent: [], unfinished: [], now: at(lifetime - .nanoseconds(1)))
        memory.all.channelOpened(now: at(lifetime - .nanoseconds(1)))
        #expect(find(1, in: &memory, now: at(lifetime)) == "unknown", "the time was not prolonged")
        memory.settled(1, now: at(lifetime))
        memory.generationEnded(unsent: [], unfinished: [], now: at(lifetime))
        memory.settled(2, now: at(lifetime + .nanoseconds(1)))
        memory.generationEnded(unsent: [], unfinished: [], now: at(lifetime + .nanoseconds(1)))
        #expect([1, 2].map { find($0, in: &memory, now: at(lifetime + .nanoseconds(2))) } == ["settled", "settled"])
    }

    @Test("What a further loss leaves behind prolongs the time of nothing else")
    func ownTimes() {
        let lifetime = RedeliveryMemory<Int, Work>.lifetime
        var memory = Memory()
        for round in 0..<4 {
            let now = at(second * round)
            memory.settled(round, now: now)
            memory.generationEnded(
                unsent: [100], unfinished: [Unfinished(key: 10 + round, job: Work(), bytes: 1)], now: now)
            memory.all.channelOpened(now: now)
        }
        let later = at(lifetime + second)
        memory.all.forgetIfDue(now: later)
        let settled = (0..<4).filter { find($0, in: &memory, now: later) == "settled" }
        #expect(settled.count == 2)
        let unfinished = (10..<14).filter { find($0, in: &memory, now: later) == "unfinished" }
        #expect(unfinished.count == 2)
        #expect(memory.count == 1, "the job of the latest loss is prolonged by its own news")
        memory.all.forgetIfDue(now: at(lifetime + second * 3))
        #expect(memory.count == 0 && memory.bytes == 0)
    }

    @Test("Messages under work are kept up to a number of bytes; the oldest are let go first")
    func bytes() {
        let most = RedeliveryMemory<Int, Work>.byteLimit
        var memory = Memory()
        let works = (0..<4).map { _ in Work() }
        for key in 0..<3 {
            memory.generationEnded(
                unsent: [], unfinished: [Unfinished(key: key, job: works[key], bytes: most / 2)], now: 0)
        }
        #expect(memory.bytes == most / 2 * 2)
        memory.all.finished(1, works[1])
        #expect(memory.bytes == most / 2)
        #expect((0..<3).map { find($0, in: &memory) } == ["unknown", "settled", "unfinished"])
        #expect(memory.bytes == 0)
        memory.generationEnded(unsent: [], unfinished: [Unfinished(key: 3, job: works[3], bytes: most + 1)], now: 0)
        #expect(memory.count == 0 && memory.bytes == 0, "one that is larger than all of it is not kept")
    }

    @Test("Only the last jobs settled are remembered, and never more than the limit")
    func bounds() {
        let capacity = RecentSettlements<Int>.capacity
        let limit = RedeliveryMemory<Int, Work>.limit
        var memory = Memory()
        for key in 0..<capacity + 10 { memory.settled(key, now: 0) }
        memory.generationEnded(unsent: [], unfinished: [], now: 0)
        #expect(memory.count == capacity)
        #expect(find(9, in: &memory) == "unknown")
        #expect([10, capacity + 9].map { find($0, in: &memory) } == ["settled", "settled"])
        for round in 1...5 {
            for key in 0..<capacity { memory.settled(round * 100_000 + key, now: 0) }
            memory.generationEnded(unsent: [], unfinished: [], now: 0)
            #expect(memory.count <= limit)
        }
        let last = 500_000 + capacity - 1
        #expect([last - limit, last].map { find($0, in: &memory) } == ["unknown", "settled"], "the oldest go first")
    }
}
