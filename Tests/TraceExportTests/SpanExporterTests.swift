import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TraceExport

@Suite("The exporter of spans", .timeLimit(.minutes(1)))
struct SpanExporterTests {
    /// A collector whose answers a test sets; later requests get the last one.
    private final class Collector: Sendable {
        private let answers: Mutex<[ExportAnswer]>
        let counts = Mutex<[Int]>([])
        let told = Mutex<[ExportAnswer]>([])

        /// Called in each request, with how many there were before.
        private let during: @Sendable (Int) -> Void

        init(_ answers: [ExportAnswer], during: @escaping @Sendable (Int) -> Void = { _ in }) {
            self.answers = Mutex(answers)
            self.during = during
        }

        func exporter(_ queue: SpanQueue, waits: [Duration]) -> SpanExporter {
            SpanExporter(
                queue, from: SpanSource(service: "martlet", version: "1", instance: "w"), patience: .seconds(3_600),
                waits: waits,
                send: { [self] _, count in
                    counts.withLock { $0.append(count) }
                    during(counts.withLock(\.count) - 1)
                    return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
                }, tell: { [self] answer in told.withLock { $0.append(answer) } })
        }
    }

    /// Exports spans before the end, or only at the end.
    private func export(
        _ count: Int, answers: [ExportAnswer], isBefore: Bool = true
    ) async throws -> (collector: Collector, counts: SpanQueue.Counts) {
        let (queue, collector) = (SpanQueue(), Collector(answers))
        for id in 0..<count { queue.add(TestSpans.span(UInt64(id) + 1)) }
        let exporter = collector.exporter(queue, waits: [.zero, .zero])
        if !isBefore { exporter.finish() }
        queue.wake()
        let running = Task { await exporter.run() }
        while isBefore, queue.counts.exported + queue.counts.allLost < count { try await yieldUnlessOver() }
        exporter.finish()
        await running.value
        return (collector, queue.counts)
    }

    @Test("All spans go out in batches, also when the worker ends", arguments: [true, false])
    func batches(_ isBefore: Bool) async throws {
        let (collector, counts) = try await export(
            2 * SpanQueue.batch + 5, answers: [.taken(refused: 0)], isBefore: isBefore)
        #expect(collector.counts.withLock { $0 } == [SpanQueue.batch, SpanQueue.batch, 5])
        #expect(counts.exported == 2 * SpanQueue.batch + 5)
        #expect(SpanQueue.Loss.allCases.allSatisfy { counts[$0] == 0 })
    }

    @Test("A batch that the collector wants later is sent again")
    func later() async throws {
        let answers = [ExportAnswer.later("503"), .later("503"), .taken(refused: 1)]
        let (collector, counts) = try await export(7, answers: answers)
        #expect(collector.counts.withLock { $0 } == [7, 7, 7])
        #expect(counts.exported == 6 && counts[.refused] == 1)
        #expect(collector.told.withLock { $0 } == answers)
    }

    @Test("A batch waits as long as the collector asks, within a limit, and never less than without that")
    func asked() {
        let wait = SpanExporter.wait
        #expect(wait(.seconds(2), nil) == .seconds(2))
        #expect(wait(.seconds(2), .seconds(1)) == .seconds(2))
        #expect(wait(.seconds(2), .seconds(9)) == .seconds(9))
        #expect(wait(.seconds(2), .seconds(86_400)) == SpanExporter.longestWait)
    }

    @Test("A batch that nobody takes is dropped and counted after some tries, and the next one gets its own")
    func unreachable() async throws {
        let (collector, counts) = try await export(SpanQueue.batch + 1, answers: [.later("no route")])
        #expect(collector.counts.withLock { $0 } == [512, 512, 512, 1, 1, 1])
        #expect(counts.exported == 0 && counts[.unreachable] == SpanQueue.batch + 1)
    }

    @Test("A batch that is refused is not sent again")
    func refused() async throws {
        let (collector, counts) = try await export(3, answers: [.refused("400")])
        #expect(collector.counts.withLock { $0 } == [3])
        #expect(counts[.refused] == 3 && counts.exported == 0)
    }

    @Test("Spans that come while a batch goes out wait for others")
    func partial() async throws {
        let queue = SpanQueue()
        let collector = Collector([.taken(refused: 0)]) { before in
            if before == 0 { for id in 1...3 { queue.add(TestSpans.span(UInt64(id))) } }
        }
        let exporter = collector.exporter(queue, waits: [])
        queue.add(TestSpans.span(9))
        queue.wake()
        let running = Task { await exporter.run() }
        while queue.counts.exported == 0 { try await yieldUnlessOver() }
        // One that comes now joins the three.
        queue.add(TestSpans.span(10))
        exporter.finish()
        await running.value
        #expect(collector.counts.withLock { $0 } == [1, 4])
    }

    @Test("A worker that ends does not wait to send a batch again, sends what is left, and counts what was lost")
    func ending() async throws {
        let (queue, collector) = (SpanQueue(), Collector([.later("away")]))
        for id in 0..<SpanQueue.batch + 5 { queue.add(TestSpans.span(UInt64(id) + 1)) }
        let exporter = collector.exporter(queue, waits: [.seconds(3_600)])
        let running = Task { await exporter.run() }
        while collector.told.withLock({ $0.isEmpty }) { try await yieldUnlessOver() }
        exporter.finish()
        await running.value
        #expect(collector.counts.withLock { $0 } == [512, 5])
        #expect(queue.counts[.unreachable] == SpanQueue.batch + 5 && queue.counts.allLost == SpanQueue.batch + 5)
    }

    @Test("What a cancelled exporter did not send is counted")
    func cancelled() async throws {
        let (queue, collector) = (SpanQueue(), Collector([.later("away")]))
        for id in 0..<2 * SpanQueue.batch { queue.add(TestSpans.span(UInt64(id) + 1)) }
        let exporter = collector.exporter(queue, waits: [.seconds(3_600)])
        let running = Task { await exporter.run() }
        while collector.told.withLock({ $0.isEmpty }) { try await yieldUnlessOver() }
        running.cancel()
        await running.value
        #expect(queue.counts[.unreachable] == 2 * SpanQueue.batch)
    }

    @Test("A full batch goes out although nobody asks for it")
    func complete() async throws {
        let (queue, collector) = (SpanQueue(), Collector([.taken(refused: 0)]))
        let exporter = collector.exporter(queue, waits: [])
        let running = Task { await exporter.run() }
        for id in 0..<SpanQueue.batch { queue.add(TestSpans.span(UInt64(id) + 1)) }
        while queue.counts.exported == 0 { try await yieldUnlessOver() }
        exporter.finish()
        await running.value
        #expect(collector.counts.withLock { $0 } == [SpanQueue.batch])
    }
}
