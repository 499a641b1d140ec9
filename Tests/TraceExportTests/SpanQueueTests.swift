import Testing

@testable import TraceExport

@Suite("Spans that wait", .timeLimit(.minutes(1)))
struct SpanQueueTests {
    @Test("Spans leave in their order, a batch at a time")
    func order() {
        let queue = SpanQueue()
        for id in 1...UInt64(SpanQueue.batch + 2) { queue.add(TestSpans.span(id)) }
        #expect(queue.take().map(\.id) == Array(1...UInt64(SpanQueue.batch)))
        #expect(queue.take().map(\.id) == [UInt64(SpanQueue.batch + 1), UInt64(SpanQueue.batch + 2)])
        #expect(queue.take().isEmpty)
        #expect(queue.counts == SpanQueue.Counts())
    }

    @Test("A span that finds no room is dropped and counted, and those that wait stay")
    func full() {
        let queue = SpanQueue()
        for id in 1...UInt64(SpanQueue.limit + 3) { queue.add(TestSpans.span(id)) }
        #expect(queue.counts[.full] == 3 && queue.counts[.refused] == 0 && queue.counts[.unreachable] == 0)
        #expect(queue.take().first?.id == 1)
        queue.add(TestSpans.span(9))
        #expect(queue.counts[.full] == 3)
    }
}
