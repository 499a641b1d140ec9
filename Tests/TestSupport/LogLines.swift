package import Logging
import Synchronization

/// Keeps what is logged.
package final class LogLines: Sendable {
    /// What is logged from now on, as it comes.
    package let stream: AsyncStream<String>
    private let feed: AsyncStream<String>.Continuation
    private let lines = Mutex<[(level: Logger.Level, text: String)]>([])
    private let hook = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Keeps nothing yet.
    package init() { (stream, feed) = AsyncStream.makeStream(of: String.self) }

    /// What was logged so far: message and metadata.
    package var all: [String] { lines(from: .trace) }

    /// What was logged so far at a level or above it: message and metadata.
    package func lines(from level: Logger.Level) -> [String] {
        lines.withLock { $0.filter { $0.level >= level }.map(\.text) }
    }

    /// Logs to here.
    package var logger: Logger { Logger(label: "lines") { _ in Handler(lines: self) } }

    /// Called for each line, on the thread that logs it.
    package var onLine: (@Sendable (String) -> Void)? {
        get { hook.withLock(\.self) }
        set { hook.withLock { $0 = newValue } }
    }

    private func add(_ line: String, _ level: Logger.Level) {
        lines.withLock { $0.append((level, line)) }
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

        func log(event: LogEvent) { lines.add("\(event.message) \(event.metadata ?? [:])", event.level) }
    }
}
