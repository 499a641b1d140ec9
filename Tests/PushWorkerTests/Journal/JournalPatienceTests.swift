import EventLoop
import Glibc
import LocalStack
import PushModel
import Synchronization
import TestSupport
import Testing

@testable import PushWorker

@Suite("Patience with the journal", .timeLimit(.minutes(1)))
struct JournalPatienceTests {
    private static let usual = JournalPatience.usual

    @Test("It runs out after a time without progress, and every note that is written begins it again")
    func progress() {
        var patience = JournalPatience()
        patience.follow(handled: 0, now: 5)
        #expect(patience.due == nil && patience.mayPublish(0))
        for number in 1...3 as ClosedRange<UInt64> {
            let note = patience.note()
            #expect(note == number)
        }
        patience.follow(handled: 0, now: 10)
        #expect(patience.due == 10 + Self.usual)
        patience.follow(handled: 2, now: 9 + Self.usual)
        #expect([1, 2, 3].map(patience.mayPublish) == [true, true, false])
        #expect(patience.due == 9 + Self.usual * 2)
        patience.follow(handled: 2, now: 8 + Self.usual * 2)
        #expect(!patience.mayPublish(3) && patience.late == 0)
        patience.follow(handled: 2, now: 9 + Self.usual * 2)
        #expect(patience.mayPublish(3) && patience.late == 1 && patience.due == nil)
    }

    @Test("After it ran out nothing waits until all that was noted by then is written; what did not wait is counted")
    func late() {
        var patience = JournalPatience()
        _ = patience.note()
        patience.follow(handled: 0, now: 0)
        _ = patience.note()
        patience.follow(handled: 0, now: 0 + Self.usual)
        let third = patience.note()
        #expect(patience.mayPublish(third) && patience.late == 3)
        patience.follow(handled: 1, now: 0 + Self.usual * 2)
        #expect(patience.mayPublish(third), "only the write that hung is over")
        patience.follow(handled: 2, now: 1 + Self.usual * 2)
        #expect(!patience.mayPublish(third) && patience.late == 3)
        #expect(patience.due == 1 + Self.usual * 3)
        patience.follow(handled: 3, now: 2 + Self.usual * 2)
        #expect(patience.mayPublish(third) && patience.due == nil)
    }
}
