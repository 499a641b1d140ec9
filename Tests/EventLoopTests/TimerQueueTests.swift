import Testing
import Text

@testable import EventLoop

@Suite("Timers", .timeLimit(.minutes(1)))
struct TimerQueueTests {
    /// Writes down what ran.
    private final class Recorder {
        var names: [String] = []
    }

    private static func time(_ nanoseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    private static func runDue(_ queue: inout TimerQueue, now: UInt64) {
        while let action = queue.popDue(now: time(now)) { action(time(now)) }
    }

    @Test("run in the order of their deadlines, equal ones in the order they were scheduled")
    func order() {
        var queue = TimerQueue()
        let recorder = Recorder()
        let timers: [(String, UInt64)] = [("c", 30), ("a", 10), ("b1", 20), ("b2", 20), ("b3", 20), ("d", 40)]
        for (name, deadline) in timers {
            _ = queue.schedule(at: Self.time(deadline)) { _ in recorder.names.append(name) }
        }
        Self.runDue(&queue, now: 9)
        #expect(recorder.names == [])
        Self.runDue(&queue, now: 20)
        #expect(recorder.names == ["a", "b1", "b2", "b3"])
        #expect(queue.nextDeadline == Self.time(30))
        Self.runDue(&queue, now: 1000)
        #expect(recorder.names == ["a", "b1", "b2", "b3", "c", "d"])
        #expect(queue.nextDeadline == nil)
        #expect(queue.count == 0)
    }

    @Test("a cancelled timer does not run, and the next deadline forgets it")
    func cancel() {
        var queue = TimerQueue()
        let recorder = Recorder()
        let first = queue.schedule(at: Self.time(1)) { _ in recorder.names.append("first") }
        _ = queue.schedule(at: Self.time(2)) { _ in recorder.names.append("second") }
        queue.cancel(first)
        queue.cancel(first)
        #expect(queue.nextDeadline == Self.time(2))
        Self.runDue(&queue, now: 5)
        #expect(recorder.names == ["second"])
    }

    @Test("the name of a timer that ran does not cancel its successor")
    func staleName() {
        var queue = TimerQueue()
        let recorder = Recorder()
        let first = queue.schedule(at: Self.time(1)) { _ in recorder.names.append("first") }
        Self.runDue(&queue, now: 1)
        _ = queue.schedule(at: Self.time(2)) { _ in recorder.names.append("second") }
        queue.cancel(first)
        Self.runDue(&queue, now: 2)
        #expect(recorder.names == ["first", "second"])
    }

    @Test("a far deadline that is set again a hundred thousand times does not pile up")
    func compaction() {
        var queue = TimerQueue()
        for _ in 0..<10 { _ = queue.schedule(at: Self.time(5)) { _ in } }
        for round in 0..<100_000 {
            let timer = queue.schedule(at: Self.time(UInt64(1_000_000 + round))) { _ in }
            queue.cancel(timer)
        }
        #expect(queue.count == 10)
        #expect(queue.entryCount < 200)
        Self.runDue(&queue, now: 5)
        #expect(queue.count == 0)
    }

    @Test("what an action holds is let go when it is cancelled and when it ran")
    func release() {
        var queue = TimerQueue()
        weak var cancelled: Recorder?
        weak var run: Recorder?
        do {
            let first = Recorder()
            let second = Recorder()
            cancelled = first
            run = second
            let timer = queue.schedule(at: Self.time(1)) { _ in first.names = [] }
            _ = queue.schedule(at: Self.time(1)) { _ in second.names = [] }
            queue.cancel(timer)
        }
        #expect(cancelled == nil)
        #expect(run != nil)
        Self.runDue(&queue, now: 1)
        #expect(run == nil)
    }

    @Test("agree with a plain sorted list over many random schedules and cancellations")
    func model() {
        var queue = TimerQueue()
        var generator = SplitMix64(seed: 42)
        let recorder = Recorder()
        var model: [(deadline: UInt64, order: Int, name: String, id: TimerID)] = []
        for order in 0..<5000 {
            let deadline = UInt64.random(in: 0..<500, using: &generator)
            let name = String(order)
            let id = queue.schedule(at: Self.time(deadline)) { _ in recorder.names.append(name) }
            model.append((deadline, order, name, id))
            if order % 3 == 0, let index = model.indices.randomElement(using: &generator) {
                queue.cancel(model.remove(at: index).id)
            }
        }
        Self.runDue(&queue, now: 500)
        let expected = model.sorted { ($0.deadline, $0.order) < ($1.deadline, $1.order) }.map(\.name)
        #expect(recorder.names == expected)
    }
}
