import EventLoop
import Glibc
package import Logging

/// Writes log events as lines to a ``LogSink``.
package struct WorkerLogHandler: LogHandler {
    /// The least level that is written: the one set for this logger, otherwise that of the process.
    package var logLevel: Logger.Level {
        get { ownLevel ?? sink.threshold.level }
        set { ownLevel = newValue }
    }
    /// The metadata that goes with every line.
    package var metadata: Logger.Metadata = [:]
    /// Gives the metadata that a task adds to its lines.
    package var metadataProvider: Logger.MetadataProvider?

    private var ownLevel: Logger.Level?
    private let label: String
    private let formatter: LogFormatter
    private let sink: LogSink
    private let clock: @Sendable () -> Int64

    /// Makes the handler of one logger.
    init(
        label: String, formatter: LogFormatter, sink: LogSink,
        clock: @escaping @Sendable () -> Int64 = WallClock.milliseconds
    ) {
        self.label = label
        self.formatter = formatter
        self.sink = sink
        self.clock = clock
    }

    /// Reads and sets one entry of ``metadata``.
    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one event.
    package func log(event: LogEvent) {
        var merged = metadata
        if let provided = metadataProvider?.get() { merged.merge(provided) { _, new in new } }
        if let own = event.metadata { merged.merge(own) { _, new in new } }
        if let error = event.error { merged[LogKey.error.rawValue] = "\(error)" }
        sink.write(
            formatter.line(
                level: event.level, message: event.message.description, metadata: merged, label: label, time: clock()))
    }
}
