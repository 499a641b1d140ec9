import Logging
import Synchronization

/// Keeps what is logged.
final class LogLines: Sendable {
    let stream: AsyncStream<String>
    private let feed: AsyncStream<String>.Continuation
    private let lines = Mutex<[String]>([])
    private let hook = Mutex<(@Sendable (String) -> Void)?>(nil)

    init() { (stream, feed) = AsyncStream.makeStream(of: String.self) }

    /// What was logged so far: message and metadata.
    var all: [String] { lines.withLock(\.self) }

    /// Logs to here.
    var logger: Logger { Logger(label: "lines") { _ in Handler(lines: self) } }

    /// Called for each line, on the thread that logs it.
    var onLine: (@Sendable (String) -> Void)? {
        get { hook.withLock(\.self) }
        set { hook.withLock { $0 = newValue } }
    }

    private func add(_ line: String) {
        lines.withLock { $0.append(line) }
        feed.yield(line)
        onLine?(line)
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add("\(event.message) \(event.metadata ?? [:])") }
    }
}
