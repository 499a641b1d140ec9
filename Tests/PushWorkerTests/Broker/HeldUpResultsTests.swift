import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("Results that cannot go out", .timeLimit(.minutes(1)))
final class HeldUpResultsTests {
    private static let start: MonotonicTime = 1_000_000_000
    private static let limit = Duration.seconds(30)

    private var heldUp = HeldUpResults(limit: limit)

    @Test("All are held up after the limit without a pause")
    func all() {
        heldUp.note(isCongested: true, stalled: [], now: Self.start)
        heldUp.note(isCongested: true, stalled: [], now: Self.start + .seconds(10))
        #expect(!heldUp.areAll(now: Self.start + (Self.limit - .nanoseconds(1))))
        #expect(heldUp.areAll(now: Self.start + Self.limit))
        heldUp.note(isCongested: false, stalled: [], now: Self.start + .seconds(20))
        heldUp.note(isCongested: true, stalled: [], now: Self.start + .seconds(21))
        #expect(!heldUp.areAll(now: Self.start + Self.limit))
    }

    @Test("Each route has a time of its own, which ends with its trouble")
    func routes() {
        heldUp.note(isCongested: false, stalled: [3], now: Self.start)
        heldUp.note(isCongested: false, stalled: [3, 5], now: Self.start + .seconds(10))
        #expect(heldUp.dueAt(3) == Self.start + Self.limit && heldUp.dueAt(4) == nil)
        #expect(heldUp.dueAt(5) == Self.start + .seconds(10) + Self.limit)
        heldUp.note(isCongested: false, stalled: [5], now: Self.start + .seconds(20))
        #expect(heldUp.dueAt(3) == nil && heldUp.dueAt(5) == Self.start + .seconds(10) + Self.limit)
        heldUp.note(isCongested: false, stalled: [], now: Self.start + .seconds(30))
        #expect(heldUp.dueAt(5) == nil && !heldUp.areAll(now: .distantFuture))
    }
}
