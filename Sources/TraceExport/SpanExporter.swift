package import Foundation
import FoundationNetworking
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
    /// How long the collector may be silent, in seconds.
    static let timeout = 10.0

    /// Sends a request, and tells what the collector made of it.
    package typealias Send = @Sendable (_ body: Data, _ count: Int) async -> ExportAnswer

    private let queue: SpanQueue
    private let source: SpanSource
    private let patience: Duration
    private let waits: [Duration]
    private let send: Send
    private let tell: @Sendable (ExportAnswer) -> Void

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
        let session = WebSession(timeout: timeout)
        return { body, count in
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = body
            do throws(WebSession.Failure) {
                let answer = try await session.answer(to: request)
                return ExportAnswer(status: answer.head.statusCode, body: answer.body, count: count)
            } catch {
                return error.isLoginRefused ? .refused("it wants a login") : .later(error.reason)
            }
        }
    }

    /// Exports until the queue is closed, and then once more what waits there. Cancelling the task ends it at once.
    package func run() async {
        let clock = Task { [patience, queue] in
            while !Task.isCancelled {
                try? await Task.sleep(for: patience)
                queue.wake()
            }
        }
        defer { clock.cancel() }
        for await _ in queue.signals { await exportAll(waits) }
        await exportAll([])
    }

    /// Lets `run` end, once what waits was sent a last time.
    package func finish() { queue.close() }

    /// Sends what waits, batch after batch.
    private func exportAll(_ waits: [Duration]) async {
        while !Task.isCancelled {
            let spans = queue.take()
            guard !spans.isEmpty else { return }
            await export(spans, waits)
        }
    }

    private func export(_ spans: [TraceSpan], _ waits: [Duration]) async {
        let body = OTLPRequest(spans, from: source).json
        var left = waits[...]
        while true {
            let answer = await send(body, spans.count)
            tell(answer)
            switch answer {
            case .taken(let refused):
                return queue.note(exported: spans.count - refused, lost: (refused, .refused))
            case .refused: return queue.note(exported: 0, lost: (spans.count, .refused))
            case .later:
                guard let wait = left.popFirst(), (try? await Task.sleep(for: wait)) != nil else {
                    return queue.note(exported: 0, lost: (spans.count, .unreachable))
                }
            }
        }
    }
}
