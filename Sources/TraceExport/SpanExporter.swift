package import Foundation
import FoundationNetworking
import Synchronization
import WebClient

/// Sends the spans of a worker to a collector, in batches: as soon as a batch is complete, or after a while.
///
/// A batch that the collector does not take is sent again a few times, then dropped and counted. Meanwhile the queue
/// fills, and drops what finds no room.
package final class SpanExporter: Sendable {
    /// How long a span waits for others.
    package static let patience = Duration.seconds(5)
    /// The waits before a batch is sent again.
    package static let waits: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
    /// The longest wait that a collector can ask for with `Retry-After`.
    static let longestWait = Duration.seconds(30)
    /// How long the collector may take for a request, in seconds.
    static let timeout = 10.0
    /// The longest body of the collector's answer, in bytes. The answer says how many spans were refused, and why.
    static let longestAnswer = 65_536

    /// Sends a request, and tells what the collector made of it.
    package typealias Send = @Sendable (_ body: Data, _ count: Int) async -> ExportAnswer

    private let queue: SpanQueue
    private let source: SpanSource
    private let patience: Duration
    private let waits: [Duration]
    private let send: Send
    private let tell: @Sendable (ExportAnswer) -> Void
    private let pause = Mutex(Pause())

    /// The wait before a batch is sent again.
    private struct Pause {
        var sleep: Task<Void, any Error>?
        /// Whether there are no waits any more, because the worker ends.
        var isOver = false
    }

    /// An exporter that has sent nothing yet.
    ///
    /// - Parameters:
    ///   - queue: Where the spans wait.
    ///   - source: The process that they come from.
    ///   - patience: How long a span waits for others.
    ///   - waits: The waits before a batch is sent again.
    ///   - send: Sends a request.
    ///   - tell: Hears each answer, for the log.
    package init(
        _ queue: SpanQueue, from source: SpanSource, patience: Duration = SpanExporter.patience,
        waits: [Duration] = SpanExporter.waits, send: @escaping Send,
        tell: @escaping @Sendable (ExportAnswer) -> Void
    ) {
        (self.queue, self.source, self.patience, self.waits) = (queue, source, patience, waits)
        (self.send, self.tell) = (send, tell)
    }

    /// Requests to a collector: `POST` with JSON.
    ///
    /// - Parameter address: Where it takes spans.
    /// - Returns: Nil if that is not an address.
    package static func post(to address: String) -> Send? {
        guard let url = URL(string: address) else { return nil }
        let session = WebSession(timeout: timeout, limit: timeout, longestBody: longestAnswer)
        return { body, count in
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = body
            do throws(WebSession.Failure) {
                let answer = try await session.answer(to: request)
                let retryAfter = answer.head.value(forHTTPHeaderField: "Retry-After")
                return ExportAnswer(
                    status: answer.head.statusCode, body: answer.body, retryAfter: retryAfter,
                    now: Int64(Date().timeIntervalSince1970), count: count)
            } catch {
                return error.kind == .loginRefused ? .refused("it wants a login") : .later(error.reason)
            }
        }
    }

    /// Exports until `finish`, and then once more what waits there. Cancelling the task ends it at once. What is not
    /// exported in the end is counted as lost.
    package func run() async {
        let clock = Task { [patience, queue] in
            while !Task.isCancelled {
                try? await Task.sleep(for: patience)
                queue.wake()
            }
        }
        defer { clock.cancel() }
        for await _ in queue.signals { await exportAll() }
        await exportAll()
        queue.abandon()
    }

    /// Lets `run` end, once what waits was sent a last time.
    package func finish() {
        pause.withLock { pause in
            pause.isOver = true
            pause.sleep?.cancel()
        }
        queue.close()
    }

    /// Sends what waits, batch after batch. Spans that come meanwhile wait for others.
    private func exportAll() async {
        var count: Int
        repeat {
            let spans = queue.take()
            count = spans.count
            if count > 0 { await export(spans) }
        } while count == SpanQueue.batch && !Task.isCancelled
    }

    private func export(_ spans: [TraceSpan]) async {
        let body = OTLPRequest(spans, from: source).json
        var left = waits[...]
        while true {
            let answer = await send(body, spans.count)
            tell(answer)
            switch answer {
            case .taken(let refused):
                return queue.note(exported: spans.count - refused, lost: (refused, .refused))
            case .refused: return queue.note(exported: 0, lost: (spans.count, .refused))
            case .later(_, let asked):
                guard let usual = left.popFirst(), await sleep(for: Self.wait(usual, asked)) else {
                    return queue.note(exported: 0, lost: (spans.count, .unreachable))
                }
            }
        }
    }

    /// How long a batch waits before it is sent again. The collector can make the usual wait longer, within a limit.
    static func wait(_ usual: Duration, _ asked: Duration?) -> Duration {
        max(usual, min(asked ?? .zero, longestWait))
    }

    /// Waits, unless the worker ends.
    ///
    /// - Returns: Whether the batch may be sent again; false where the worker ends.
    private func sleep(for wait: Duration) async -> Bool {
        let sleep = pause.withLock { pause -> Task<Void, any Error>? in
            guard !pause.isOver else { return nil }
            let sleep = Task { try await Task.sleep(for: wait) }
            pause.sleep = sleep
            return sleep
        }
        guard let sleep else { return false }
        return await withTaskCancellationHandler {
            (try? await sleep.value) != nil
        } onCancel: {
            sleep.cancel()
        }
    }
}
