import EventLoop
import PushWorker
import TestSupport
import Testing
import Text

@Suite("A route's consumer", .timeLimit(.minutes(1)))
struct RouteConsumerTests {
    /// Drives a consumer to the point where both queues are consumed.
    private func consuming(queues: Int = 1, prefetch: Int = 32) -> RouteConsumer {
        var consumer = RouteConsumer(queues: queues)
        consumer.wantedPrefetch = prefetch
        consumer.connected()
        #expect(consumer.nextAction(now: 0) == .openChannel)
        consumer.channelOpened()
        #expect(consumer.nextAction(now: 0) == .setPrefetch(prefetch))
        consumer.prefetchSet()
        for queue in 0..<queues {
            #expect(consumer.nextAction(now: 0) == .startConsuming(queue: queue))
            #expect(consumer.nextAction(now: 0) == nil)
            consumer.consumeStarted()
        }
        #expect(consumer.nextAction(now: 0) == nil)
        #expect(consumer.isConsuming)
        return consumer
    }

    @Test("opens, sets prefetch, then consumes each queue, one method at a time", arguments: [1, 2])
    func start(queues: Int) {
        let consumer = consuming(queues: queues)
        #expect(consumer.currentPrefetch == 32)
    }

    @Test(
        "a consumer that ends cancels, and closes its channel for good once the broker has had time for what it was sent"
    )
    func end() {
        var random = SplitMix64(seed: 1)
        var consumer = consuming()
        let end: MonotonicTime = 1 + .seconds(10)
        consumer.end(now: 1)
        #expect(consumer.nextAction(now: 1) == .cancelConsuming(queue: 0) && !consumer.isClosed)
        consumer.consumeCancelled(queue: 0)
        #expect(consumer.nextAction(now: 1) == nil && consumer.nextDue(now: 1) == end)
        #expect(consumer.nextAction(now: end) == .closeChannel && consumer.unanswered?.action == .closeChannel)
        #expect(consumer.nextAction(now: end) == nil && !consumer.isClosed)
        consumer.channelClosed(code: 200, text: "", now: end, random: &random)
        #expect(consumer.isClosed && consumer.nextAction(now: end + .seconds(100)) == nil)
        // A channel that is being opened is closed once it is open.
        var opening = RouteConsumer(queues: 1)
        opening.wantedPrefetch = 1
        opening.connected()
        #expect(opening.nextAction(now: 0) == .openChannel)
        opening.end(now: 0)
        #expect(opening.nextAction(now: end) == nil && !opening.isClosed)
        opening.channelOpened()
        #expect(opening.nextAction(now: end) == .closeChannel)
        opening.connectionLost()
        #expect(opening.isClosed)
    }

    /// A consumer whose first queue is not there, up to the closing of the channel that shows it.
    private func withoutOptional(code: UInt16, _ random: inout SplitMix64) -> RouteConsumer {
        var consumer = RouteConsumer(queues: 2, optional: 0)
        consumer.wantedPrefetch = 32
        consumer.connected()
        _ = consumer.nextAction(now: 0)
        consumer.channelOpened()
        _ = consumer.nextAction(now: 0)
        consumer.prefetchSet()
        #expect(consumer.nextAction(now: 0) == .startConsuming(queue: 0))
        consumer.channelClosed(code: code, text: "queue", now: 0, random: &random)
        return consumer
    }

    @Test("without a queue that may be missing the others are consumed at once", arguments: [403, 404] as [UInt16])
    func missingOptional(code: UInt16) {
        var random = SplitMix64(seed: 1)
        var consumer = withoutOptional(code: code, &random)
        #expect(consumer.nextAction(now: 0) == .openChannel)
        consumer.channelOpened()
        #expect(consumer.nextAction(now: 0) == .setPrefetch(32))
        consumer.prefetchSet()
        #expect(consumer.nextAction(now: 0) == .startConsuming(queue: 1))
        consumer.consumeStarted()
        #expect(consumer.isConsuming && consumer.isServing && consumer.trouble?.contains("topology apply") == true)
        #expect(consumer.nextAction(now: 0) == nil)
    }

    @Test(
        "a queue that was missing is asked for again after a minute without deliveries, after ten in any case",
        arguments: [(59, true, false), (60, true, true), (60, false, false), (600, false, true)] as [(Int, Bool, Bool)])
    func reconsideration(seconds: Int, isIdle: Bool, isAsked: Bool) {
        var random = SplitMix64(seed: 1)
        var consumer = withoutOptional(code: 404, &random)
        while let action = consumer.nextAction(now: 0) {
            switch action {
            case .openChannel: consumer.channelOpened()
            case .setPrefetch: consumer.prefetchSet()
            case .startConsuming, .cancelConsuming, .closeChannel: consumer.consumeStarted()
            }
        }
        let now = MonotonicTime(nanoseconds: 0) + .seconds(seconds)
        #expect(consumer.nextDue(now: 0) == MonotonicTime(nanoseconds: 60_000_000_000))
        consumer.reconsider(now: now, isIdle: isIdle)
        #expect(consumer.nextAction(now: now) == (isAsked ? .startConsuming(queue: 0) : nil))
        guard isAsked else { return }
        consumer.consumeStarted()
        #expect(consumer.isConsuming && consumer.trouble == nil)
    }

    @Test("changing prefetch means cancel, qos, consume on the same channel")
    func change() {
        var consumer = consuming()
        consumer.wantedPrefetch = 1_500
        #expect(consumer.nextAction(now: 0) == .cancelConsuming(queue: 0))
        consumer.consumeCancelled(queue: 0)
        #expect(consumer.nextAction(now: 0) == .setPrefetch(1_500))
        consumer.prefetchSet()
        #expect(consumer.nextAction(now: 0) == .startConsuming(queue: 0))
        consumer.consumeStarted()
        #expect(consumer.isConsuming)
    }

    @Test("a consumer's number is that of no earlier consumer of its queue, while its cancel still names the old one")
    func serials() {
        var consumer = consuming(queues: 2)
        #expect((0...1).map { consumer.serial(of: $0) } == [1, 1])
        consumer.wantedPrefetch = 0
        #expect(consumer.nextAction(now: 0) == .cancelConsuming(queue: 0) && consumer.serial(of: 0) == 1)
        consumer.wantedPrefetch = 32
        consumer.consumeCancelled(queue: 0)
        #expect(consumer.nextAction(now: 0) == .startConsuming(queue: 0))
        #expect((0...1).map { consumer.serial(of: $0) } == [2, 1])
    }

    @Test("stopping cancels and keeps the channel open for acknowledgements")
    func stop() {
        var consumer = consuming(queues: 2)
        consumer.wantedPrefetch = 0
        for queue in 0...1 {
            #expect(consumer.nextAction(now: 0) == .cancelConsuming(queue: queue))
            #expect(consumer.mayReceive)
            consumer.consumeCancelled(queue: queue)
        }
        #expect(consumer.nextAction(now: 0) == nil)
        #expect(consumer.isOpen && !consumer.mayReceive && consumer.currentPrefetch == 0)
    }

    @Test("a missing queue is asked for again after a growing wait")
    func missingQueue() {
        var consumer = consuming()
        var random = SplitMix64(seed: 1)
        consumer.channelClosed(code: 404, text: "NOT_FOUND", now: 0, random: &random)
        #expect(consumer.trouble?.contains("404") == true)
        #expect(consumer.nextAction(now: 0) == nil)
        let due = consumer.nextDue(now: 0)
        #expect(due != nil)
        #expect(consumer.nextAction(now: due ?? 0) == .openChannel)
        consumer.channelOpened()
    }

    @Test("the queue that cost the last channel is asked for first, before another one delivers anything")
    func missingSecondQueue() {
        var consumer = RouteConsumer(queues: 2)
        var random = SplitMix64(seed: 1)
        var now: MonotonicTime = 0
        /// Opens a channel; the second queue is missing or there.
        func open(hasSecond: Bool) -> [Int] {
            var asked: [Int] = []
            while let action = consumer.nextAction(now: now) {
                switch action {
                case .openChannel: consumer.channelOpened()
                case .setPrefetch: consumer.prefetchSet()
                case .startConsuming(let queue):
                    asked.append(queue)
                    if queue == 1, !hasSecond {
                        consumer.channelClosed(code: 404, text: "NOT_FOUND", now: now, random: &random)
                        now = consumer.nextDue(now: now) ?? now
                        return asked
                    }
                    consumer.consumeStarted()
                case .cancelConsuming, .closeChannel: return asked
                }
            }
            return asked
        }
        consumer.wantedPrefetch = 10
        consumer.connected()
        #expect(open(hasSecond: false) == [0, 1])
        #expect(open(hasSecond: false) == [1] && open(hasSecond: false) == [1])
        #expect(open(hasSecond: true) == [1, 0])
        #expect(consumer.isConsuming && consumer.trouble == nil)
    }

    @Test("a channel that dies again and again is opened at a falling rate; one that lasted is opened soon again")
    func flapping() {
        var consumer = consuming()
        var random = SplitMix64(seed: 3)
        var now: MonotonicTime = 0
        var waits: [Duration] = []
        for _ in 0..<30 {
            consumer.channelClosed(code: 406, text: "PRECONDITION_FAILED", now: now, random: &random)
            let due = consumer.nextDue(now: now) ?? now
            waits.append(due - now)
            now = due
            consumer = restarted(consumer, now: now)
        }
        #expect(waits[0] <= .seconds(1))
        #expect(waits.suffix(20).reduce(.zero, +) > .seconds(80), "up to 15 s each, 7.5 s on average")
        now = now + Backoff.probation
        consumer.channelClosed(code: 406, text: "PRECONDITION_FAILED", now: now, random: &random)
        #expect((consumer.nextDue(now: now) ?? now) - now <= .seconds(1))
    }

    /// A consumer whose channel was closed, consuming again.
    private func restarted(_ closed: RouteConsumer, now: MonotonicTime) -> RouteConsumer {
        var consumer = closed
        #expect(consumer.nextAction(now: now) == .openChannel)
        consumer.channelOpened()
        _ = consumer.nextAction(now: now)
        consumer.prefetchSet()
        #expect(consumer.nextAction(now: now) == .startConsuming(queue: 0))
        consumer.consumeStarted()
        #expect(consumer.isConsuming)
        return consumer
    }

    /// How far a consumer had come when the broker cancelled it.
    enum Stage: CaseIterable {
        case consuming, cancelling, settingPrefetch, startingTheOther

        /// Brings a consumer of two queues there.
        func reach(_ consumer: inout RouteConsumer) {
            guard self != .consuming else { return }
            consumer.wantedPrefetch = 5
            #expect(consumer.nextAction(now: 0) == .cancelConsuming(queue: 0))
            guard self != .cancelling else { return }
            consumer.consumeCancelled(queue: 0)
            #expect(consumer.nextAction(now: 0) == .cancelConsuming(queue: 1))
            consumer.consumeCancelled(queue: 1)
            #expect(consumer.nextAction(now: 0) == .setPrefetch(5))
            guard self != .settingPrefetch else { return }
            consumer.prefetchSet()
            #expect(consumer.nextAction(now: 0) == .startConsuming(queue: 0))
            consumer.consumeStarted()
            #expect(consumer.nextAction(now: 0) == .startConsuming(queue: 1))
        }
    }

    @Test(
        "a cancel by the broker closes the channel at once, whatever was asked; then all begins anew with one consumer each",
        arguments: Stage.allCases)
    func cancelledByBroker(at stage: Stage) {
        var consumer = consuming(queues: 2)
        var random = SplitMix64(seed: 1)
        stage.reach(&consumer)
        #expect(consumer.cancelledByBroker(hasDeliveries: true, now: 0, random: &random))
        #expect(!consumer.isOpen && !consumer.mayReceive && !consumer.isServing && !consumer.isClosed)
        #expect(consumer.currentPrefetch == 0)
        // The consumer of another queue ran out of the broker's patience, too.
        #expect(!consumer.cancelledByBroker(hasDeliveries: false, now: 0, random: &random))
        #expect(consumer.nextAction(now: 0) == .closeChannel && consumer.unanswered?.action == .closeChannel)
        // Answers that crossed the close change nothing.
        consumer.prefetchSet()
        consumer.consumeStarted()
        consumer.consumeCancelled(queue: 0)
        #expect(consumer.nextAction(now: .distantFuture) == nil)
        consumer.channelClosed(code: 200, text: "closed as asked for", now: 0, random: &random)
        #expect(consumer.isClosed && consumer.nextAction(now: 0) == nil)
        #expect(consumer.trouble?.contains("consumer_timeout") == true)
        let due = consumer.nextDue(now: 0) ?? 0
        #expect(due > 0 && consumer.nextAction(now: due) == .openChannel)
        consumer.channelOpened()
        _ = consumer.nextAction(now: due)
        consumer.prefetchSet()
        for queue in 0...1 {
            #expect(consumer.nextAction(now: due) == .startConsuming(queue: queue))
            consumer.consumeStarted()
        }
        #expect(consumer.isConsuming && consumer.trouble == nil)
    }

    @Test("a consumer that is cancelled while it is not wanted any more stays without a channel")
    func cancelledWhilePaused() {
        var consumer = consuming()
        var random = SplitMix64(seed: 1)
        consumer.wantedPrefetch = 0
        consumer.cancelledByBroker(hasDeliveries: true, now: 0, random: &random)
        #expect(consumer.nextAction(now: 0) == .closeChannel)
        consumer.channelClosed(code: 200, text: "closed as asked for", now: 0, random: &random)
        #expect(consumer.nextAction(now: .distantFuture) == nil && !consumer.mayReceive)
    }

    @Test(
        "the broker does not say why it cancels: its patience has not ended where it waits for nothing",
        arguments: [(true, true), (false, false)])
    func cancelCause(hasDeliveries: Bool, namesPatience: Bool) {
        let cause = RouteConsumer.cancelCause(hasDeliveries: hasDeliveries)
        #expect(cause.contains("deleted") && cause.contains("consumer_timeout") == namesPatience)
    }

    @Test("what the broker owes an answer to is known with its time, and no longer once that came")
    func unanswered() {
        var random = SplitMix64(seed: 1)
        var consumer = RouteConsumer(queues: 1)
        consumer.wantedPrefetch = 10
        consumer.connected()
        #expect(consumer.unanswered == nil)
        let answers: [(RouteConsumer.Action, (inout RouteConsumer) -> Void)] = [
            (.openChannel, { $0.channelOpened() }), (.setPrefetch(10), { $0.prefetchSet() }),
            (.startConsuming(queue: 0), { $0.consumeStarted() }),
            (.cancelConsuming(queue: 0), { $0.consumeCancelled(queue: 0) }),
        ]
        var now: MonotonicTime = 0
        for (action, answer) in answers {
            now = now + .seconds(7)
            if case .cancelConsuming = action { consumer.wantedPrefetch = 0 }
            #expect(consumer.nextAction(now: now) == action)
            // To ask what there is to do does not make it younger.
            #expect(consumer.nextAction(now: now + .seconds(100)) == nil)
            #expect(consumer.unanswered?.action == action && consumer.unanswered?.since == now)
            var lost = consumer
            lost.connectionLost()
            #expect(lost.unanswered == nil)
            var closed = consumer
            closed.channelClosed(code: 404, text: "NOT_FOUND", now: now, random: &random)
            #expect(closed.unanswered == nil)
            answer(&consumer)
            #expect(consumer.unanswered == nil)
        }
    }

    @Test("the patience with an answer is longer than what a broker in trouble takes to give an error itself")
    func patience() {
        #expect(RouteConsumer.patience > .seconds(75))
    }

    @Test("a lost connection starts everything over")
    func connectionLost() {
        var consumer = consuming()
        consumer.connectionLost()
        #expect(consumer.nextAction(now: 0) == nil && !consumer.mayReceive)
        consumer.connected()
        #expect(consumer.nextAction(now: 0) == .openChannel)
    }

    @Test("the queue of high jobs has a prefetch of its own; changing the one leaves the consumers of the other alone")
    func highPrefetch() {
        var consumer = RouteConsumer(queues: 2, high: 1)
        consumer.wantedPrefetch = 2
        consumer.wantedHighPrefetch = 50
        consumer.connected()
        #expect(consumer.nextAction(now: 0) == .openChannel)
        consumer.channelOpened()
        func start(_ queue: Int, _ prefetch: Int) {
            #expect(consumer.nextAction(now: 0) == .setPrefetch(prefetch))
            consumer.prefetchSet()
            #expect(consumer.nextAction(now: 0) == .startConsuming(queue: queue) && !consumer.isConsuming)
            consumer.consumeStarted()
        }
        func cancel(_ queue: Int) {
            #expect(consumer.nextAction(now: 0) == .cancelConsuming(queue: queue))
            consumer.consumeCancelled(queue: queue)
        }
        func expect(_ prefetch: Int, _ high: Int) {
            #expect(consumer.nextAction(now: 0) == nil && consumer.isConsuming)
            #expect(consumer.currentPrefetch == prefetch && consumer.currentHighPrefetch == high)
        }
        start(0, 2)
        start(1, 50)
        expect(2, 50)
        consumer.wantedHighPrefetch = 100
        cancel(1)
        start(1, 100)
        expect(2, 100)
        consumer.wantedPrefetch = 30
        cancel(0)
        start(0, 30)
        expect(30, 100)
        // Where one job is wanted, as for a probe, that holds for both queues.
        consumer.wantedPrefetch = 1
        consumer.wantedHighPrefetch = nil
        cancel(0)
        cancel(1)
        start(0, 1)
        #expect(consumer.nextAction(now: 0) == .startConsuming(queue: 1))
        consumer.consumeStarted()
        expect(1, 1)
        consumer.wantedPrefetch = 0
        consumer.wantedHighPrefetch = 100
        cancel(0)
        cancel(1)
        #expect(consumer.nextAction(now: 0) == nil && consumer.currentPrefetch == 0)
    }
}
