import EventLoop
import Glibc
import Logging
package import WorkerSettings

/// Sets up logging for the process.
package enum WorkerLogging {
    /// Makes every `Logger` of the process write to a descriptor. May be called once per process.
    ///
    /// - Parameters:
    ///   - configuration: Level and format.
    ///   - environment: For the colour rules.
    ///   - descriptor: Where lines go: 1 for a worker.
    /// - Returns: The sink, to be flushed at the end.
    /// - Throws: An error if the system starts no thread.
    package static func bootstrap(
        _ configuration: LogConfiguration, environment: [String: String], descriptor: Int32 = 1
    ) throws -> LogSink {
        let formatter = LogFormatter(
            format: configuration.format, isTerminal: isatty(descriptor) == 1, environment: environment)
        let sink = try LogSink(descriptor: descriptor, level: configuration.level) { count in
            formatter.line(
                level: .warning, message: "log lines dropped: nobody read them in time, or they could not be written",
                metadata: .with([.count: .stringConvertible(count)]), label: "martlet.log",
                time: WallClock.milliseconds())
        }
        LoggingSystem.bootstrap { label in
            WorkerLogHandler(label: label, formatter: formatter, sink: sink)
        }
        return sink
    }
}
