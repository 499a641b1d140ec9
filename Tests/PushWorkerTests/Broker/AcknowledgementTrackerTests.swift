import EventLoop
import TestSupport
import Testing
import Text

@testable import PushWorker

@Suite("Acknowledgements", .timeLimit(.minutes(1)))
struct AcknowledgementTrackerTests {
    typealias Acknowledgement = AcknowledgementTracker.Acknowledgement

    private func tracker(delivered count: UInt64) -> AcknowledgementTracker {
        var tracker = AcknowledgementTracker()
        for tag in 1...count {
            let isNext = tracker.delivered(tag)
            #expect(isNext)
        }
        return tracker
    }

    @Test("a full batch of the finished prefix goes out at once, as one multiple acknowledgement")
    func fullBatch() {
        var tracker = tracker(delivered: 100)
        for tag in 1...63 as ClosedRange<UInt64> { tracker.done(tag, now: 0) }
        #expect(tracker.takePrefix(now: 0) == nil)
        tracker.done(64, now: 0)
        #expect(tracker.takePrefix(now: 0) == Acknowledgement(deliveryTag: 64, multiple: true))
        #expect(tracker.unacknowledged == 36)
    }

    @Test("a short prefix waits for the flush interval, or for a flush")
    func shortPrefix() {
        var tracker = tracker(delivered: 10)
        tracker.done(1, now: 1_000)
        #expect(tracker.takePrefix(now: 1_001) == nil)
        #expect(tracker.nextDue == 1_000 + AcknowledgementTracker.flushInterval)
        #expect(tracker.takePrefix(now: 1_000 + AcknowledgementTracker.flushInterval)?.deliveryTag == 1)
        tracker.done(2, now: 9_000_000)
        #expect(tracker.takePrefix(now: 9_000_000, flush: true)?.deliveryTag == 2)
        #expect(tracker.nextDue == nil)
    }

    @Test("nothing beyond an open delivery is covered by a multiple acknowledgement")
    func gap() {
        var tracker = tracker(delivered: 5)
        for tag in [1, 2, 4, 5] as [UInt64] { tracker.done(tag, now: 0) }
        #expect(tracker.takePrefix(now: 0, flush: true) == Acknowledgement(deliveryTag: 2, multiple: true))
        #expect(tracker.takePrefix(now: 0, flush: true) == nil)
    }

    @Test("deliveries finished behind a slow one are acknowledged singly after a while")
    func stragglers() {
        var tracker = tracker(delivered: 4)
        tracker.done(2, now: 0)
        tracker.done(4, now: 0)
        #expect(tracker.takeStragglers(now: 0 + (AcknowledgementTracker.stragglerInterval - .nanoseconds(1))).isEmpty)
        #expect(
            tracker.takeStragglers(now: 0 + AcknowledgementTracker.stragglerInterval)
                == [Acknowledgement(deliveryTag: 2, multiple: false), Acknowledgement(deliveryTag: 4, multiple: false)])
        #expect(tracker.unacknowledged == 2)
    }

    @Test("a straggler that the prefix reached meanwhile, or that was handed back, is not acknowledged singly")
    func stragglersOvertaken() {
        var tracker = tracker(delivered: 6)
        for tag in [2, 4, 5] as [UInt64] { tracker.done(tag, now: 0) }
        tracker.handedBack(6, now: 0)
        tracker.done(1, now: 0)
        #expect(
            tracker.takeStragglers(now: 0, flush: true)
                == [4, 5].map { Acknowledgement(deliveryTag: $0, multiple: false) })
        #expect(tracker.takePrefix(now: 0, flush: true) == Acknowledgement(deliveryTag: 2, multiple: true))
        #expect(tracker.takeStragglers(now: 0, flush: true).isEmpty)
        #expect(tracker.unacknowledged == 1)
    }

    @Test("answers that never come in order leave no list that grows with time")
    func stragglersUnderLoad() {
        var tracker = AcknowledgementTracker()
        var now: MonotonicTime = 0
        var open: [UInt64] = []
        var most = 0
        for tag in 1...50_000 as ClosedRange<UInt64> {
            let isNext = tracker.delivered(tag)
            #expect(isNext)
            open.append(tag)
            guard open.count == 100 else { continue }
            // The newest first: each is a straggler, and the prefix follows later.
            tracker.done(open.remove(at: 50), now: now)
            tracker.done(open.removeFirst(), now: now)
            now = now.adding(nanoseconds: 100_000)
            _ = tracker.takePrefix(now: now, flush: true)
            let taken = tracker.takeStragglers(now: now)
            #expect(taken.isEmpty)
            most = max(most, tracker.stragglerTags.count)
        }
        #expect(most < 500)
    }

    @Test("the prefix acknowledgement names a tag the broker still knows")
    func namesKnownTag() {
        var tracker = tracker(delivered: 4)
        tracker.done(2, now: 0)
        tracker.done(3, now: 0)
        _ = tracker.takeStragglers(now: 0, flush: true)
        tracker.done(1, now: 0)
        #expect(tracker.takePrefix(now: 0, flush: true) == Acknowledgement(deliveryTag: 1, multiple: true))
        tracker.done(4, now: 0)
        #expect(tracker.takePrefix(now: 0, flush: true) == Acknowledgement(deliveryTag: 4, multiple: true))
        #expect(tracker.unacknowledged == 0)
    }

    @Test("a tag out of sequence is refused")
    func outOfSequence() {
        var tracker = tracker(delivered: 3)
        let answers = [5, 3, 4].map { tracker.delivered($0) }
        #expect(answers == [false, false, true])
    }

    /// Plays the broker: it knows which tags are unacknowledged and refuses unknown ones.
    @Test("random orders acknowledge every delivery exactly once", arguments: 1...20 as ClosedRange<UInt64>)
    func randomOrders(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tracker = AcknowledgementTracker()
        var broker = Set<UInt64>()
        var open: [UInt64] = []
        var done = Set<UInt64>()
        var now: MonotonicTime = 0
        func apply(_ acknowledgement: Acknowledgement) {
            #expect(broker.contains(acknowledgement.deliveryTag))
            let tag = acknowledgement.deliveryTag
            let covered: Set<UInt64> = acknowledgement.multiple ? broker.filter { $0 <= tag } : [tag]
            #expect(covered.isSubset(of: done))
            broker.subtract(covered)
        }
        for step in 1...5_000 as ClosedRange<UInt64> {
            now = now.adding(nanoseconds: UInt64.random(in: 0...2_000_000, using: &random))
            let isNext = tracker.delivered(step)
            #expect(isNext)
            broker.insert(step)
            open.append(step)
            while open.count > 50 || (!open.isEmpty && Bool.random(using: &random)) {
                let tag = open.remove(at: Int.random(in: 0..<open.count, using: &random))
                done.insert(tag)
                tracker.done(tag, now: now)
            }
            if let prefix = tracker.takePrefix(now: now) { apply(prefix) }
            for straggler in tracker.takeStragglers(now: now) { apply(straggler) }
            #expect(tracker.unacknowledged == broker.count)
        }
        for tag in open {
            done.insert(tag)
            tracker.done(tag, now: now)
        }
        if let prefix = tracker.takePrefix(now: now, flush: true) { apply(prefix) }
        #expect(broker.isEmpty)
    }
}
