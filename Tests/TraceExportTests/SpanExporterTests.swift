import Foundation
import Synchronization
import Testing

@testable import TraceExport

@Suite("The exporter of spans", .timeLimit(.minutes(1)))
struct SpanExporterTests {
    /// A collector whose answers a test sets; later requests get the last one.
    private final class Collector: Sendable {
        private let answers: Mutex<[ExportAnswer]>
        let counts = Mutex<[Int]>([])
        let told = Mutex<[ExportAnswer]>([])

        init(_ answers: [ExportAnswer]) { self.answers = Mutex(answers) }

        func exporter(_ queue: SpanQueue, waits: [Duration]) -> SpanExporter {
            SpanExporter(
                queue, from: SpanSource(service: "martlet", version: "1", instance: "w"), patience: .seconds(3_600),
                waits: waits,
                send: { [self] _, count in
                    counts.withLock { $0.append(count) }
                    return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
                }, tell: { [self] answer in told.withLock { $0.append(answer) } })
        }
    }

    /// Exports spans until the queue is empty, and once more at the end.
    private func export(
        _ count: Int, answers: [ExportAnswer], waits: [Duration] = [.zero, .zero]
    ) async -> (collector: Collector, counts: SpanQueue.Counts) {
        let (queue, collector) = (SpanQueue(), Collector(answers))
        for id in 0..<count { queue.add(TestSpans.span(UInt64(id) + 1)) }
        let exporter = collector.exporter(queue, waits: waits)
        queue.wake()
        exporter.finish()
        await exporter.run()
        return (collector, queue.counts)
    }

    @Test("All spans go out in batches, the last one when the worker ends")
    func batches() async {
        let (collector, counts) = await export(2 * SpanQueue.batch + 5, answers: [.taken(refused: 0)])
        #expect(collector.counts.withLock { $0 } == [SpanQueue.batch, SpanQueue.batch, 5])
        #expect(counts.exported == 2 * SpanQueue.batch + 5)
        #expect(SpanQueue.Loss.allCases.allSatisfy { counts[$0] == 0 })
    }

    @Test("A batch that the collector wants later is sent again")
    func later() async {
        let answers = [ExportAnswer.later("503"), .later("503"), .taken(refused: 1)]
        let (collector, counts) = await export(7, answers: answers)
        #expect(collector.counts.withLock { $0 } == [7, 7, 7])
        #expect(counts.exported == 6 && counts[.refused] == 1)
        #expect(collector.told.withLock { $0 } == answers)
    }

    @Test("A batch that nobody takes is dropped and counted after some tries, and the next one gets its own")
    func unreachable() async {
        let (collector, counts) = await export(SpanQueue.batch + 1, answers: [.later("no route")])
        #expect(collector.counts.withLock { $0 } == [512, 512, 512, 1, 1, 1])
        #expect(counts.exported == 0 && counts[.unreachable] == SpanQueue.batch + 1)
    }

    @Test("A batch that is refused is not sent again")
    func refused() async {
        let (collector, counts) = await export(3, answers: [.refused("400")])
        #expect(collector.counts.withLock { $0 } == [3])
        #expect(counts[.refused] == 3 && counts.exported == 0)
    }

    @Test("A full batch goes out although nobody asks for it")
    func complete() async {
        let (queue, collector) = (SpanQueue(), Collector([.taken(refused: 0)]))
        let exporter = collector.exporter(queue, waits: [])
        let running = Task { await exporter.run() }
        for id in 0..<SpanQueue.batch { queue.add(TestSpans.span(UInt64(id) + 1)) }
        while queue.counts.exported == 0 { await Task.yield() }
        exporter.finish()
        await running.value
        #expect(collector.counts.withLock { $0 } == [SpanQueue.batch])
    }
}
