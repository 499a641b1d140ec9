import EventLoop
import Logging
import Synchronization
import TraceExport
import WorkerSettings

/// The spans of a worker, and what sends them to a collector.
///
/// The log tells when the collector does not take them, once and again each minute, and when it does again. Nothing
/// else depends on the collector.
final class WorkerTracing: Sendable {
    /// How long a worker that ends may take to send its last spans.
    static let lastPatience = Duration.seconds(2)

    /// Where the lane puts spans.
    let spans = SpanQueue()
    private let exporter: SpanExporter
    private let logger: Logger

    /// Spans that go nowhere yet.
    ///
    /// - Parameters:
    ///   - configuration: The worker's configuration.
    ///   - version: The program's version.
    ///   - logger: Where it says that the collector is in trouble.
    /// - Returns: Nil where no collector is configured, or where its address cannot be used; the log tells that.
    init?(_ configuration: WorkerConfiguration, version: String, logger: Logger) {
        guard let endpoint = configuration.tracing.endpoint else { return nil }
        guard let send = SpanExporter.post(to: "\(endpoint)/v1/traces") else {
            logger.error(
                "the address of the collector of traces cannot be used: nothing is traced",
                metadata: .with([.host: "\(endpoint)"]))
            return nil
        }
        self.logger = logger
        let outages = Mutex(OutageLog())
        exporter = SpanExporter(
            spans,
            from: SpanSource(
                service: configuration.tracing.serviceName, version: version, instance: configuration.instance),
            send: send,
            tell: { answer in
                let failure: (kind: String, text: String)? =
                    switch answer {
                    case .taken(refused: 0): nil
                    case .taken(let refused): ("partial", "it refused \(refused) spans")
                    case .refused(let reason): ("refused", reason)
                    case .later(let reason, _): ("later", reason)
                    }
                let news = outages.withLock { $0.note(failure: failure, now: .now()) }
                switch news {
                case nil: break
                case .failed(let reason, let level):
                    logger.log(
                        level: level, "the collector of traces does not take spans",
                        metadata: .with([.host: "\(endpoint)", .error: "\(reason)"]))
                case .works(let ended):
                    logger.notice(
                        "the collector of traces takes spans again",
                        metadata: .with([.host: "\(endpoint)", .detail: "\(ended.text)"]))
                }
            })
    }

    /// Sends spans until `finish`.
    func run() -> Task<Void, Never> { Task { [exporter] in await exporter.run() } }

    /// Sends what is left, and gives up after a while.
    ///
    /// - Parameter sending: What `run` gave.
    func finish(_ sending: Task<Void, Never>) async {
        exporter.finish()
        let limit = Task {
            try? await Task.sleep(for: Self.lastPatience)
            sending.cancel()
        }
        await sending.value
        limit.cancel()
        let lost = spans.counts.allLost
        if lost > 0 {
            logger.warning("spans never reached the collector of traces", metadata: .with([.count: "\(lost)"]))
        }
    }
}
