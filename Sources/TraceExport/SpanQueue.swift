import DequeModule
import Synchronization

/// The spans of a worker that are not exported yet. The lane adds, and one exporter takes.
///
/// A lane never waits for the exporter: what finds no room is dropped and counted.
package final class SpanQueue: Sendable {
    /// The most spans that wait. Each takes about a kilobyte.
    package static let limit = 16_384
    /// How many spans go out in one request.
    package static let batch = 512

    /// Why a span was never exported.
    package enum Loss: String, CaseIterable, Sendable {
        /// Too many waited.
        case full
        /// The collector refused it.
        case refused
        /// The collector could not be reached, or asked to try again later, too often.
        case unreachable
    }

    /// What became of the spans.
    package struct Counts: Equatable, Sendable {
        /// How many the collector took.
        package var exported = 0
        private var lost = [Int](repeating: 0, count: Loss.allCases.count)

        /// No spans yet.
        package init() {}

        /// How many were lost for any reason.
        package var allLost: Int { lost.reduce(0, +) }

        /// How many were lost for a reason.
        package subscript(loss: Loss) -> Int {
            get { lost[Self.position(loss)] }
            set { lost[Self.position(loss)] = newValue }
        }

        private static func position(_ loss: Loss) -> Int {
            switch loss {
            case .full: 0
            case .refused: 1
            case .unreachable: 2
            }
        }
    }

    private struct State {
        var spans: Deque<TraceSpan> = []
        var counts = Counts()
    }

    /// Gives an element when a batch is complete, and at other times if somebody calls `wake`. It ends with `close`.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// An empty queue.
    package init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// What became of the spans so far.
    package var counts: Counts { state.withLock(\.counts) }

    /// Adds a span, or drops it if too many wait.
    package func add(_ span: TraceSpan) {
        let isBatch = state.withLock { state in
            guard state.spans.count < Self.limit else {
                state.counts[.full] += 1
                return false
            }
            state.spans.append(span)
            return state.spans.count == Self.batch
        }
        if isBatch { signal.yield() }
    }

    /// Takes out the oldest spans, a batch at most; none when the queue is empty.
    func take() -> [TraceSpan] {
        state.withLock { state in
            let batch = Array(state.spans.prefix(Self.batch))
            state.spans.removeFirst(batch.count)
            return batch
        }
    }

    /// Notes what became of spans that were taken out.
    func note(exported: Int, lost: (count: Int, why: Loss)? = nil) {
        state.withLock { state in
            state.counts.exported += exported
            if let lost { state.counts[lost.why] += lost.count }
        }
    }

    /// Lets the exporter look, although no batch is complete.
    func wake() { signal.yield() }

    /// Lets the exporter end once it has looked a last time. The queue still takes spans, which nobody exports then.
    func close() { signal.finish() }

    /// Drops what waits, and counts it.
    func abandon() {
        state.withLock { state in
            state.counts[.unreachable] += state.spans.count
            state.spans.removeAll()
        }
    }
}
