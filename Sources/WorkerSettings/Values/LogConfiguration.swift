package import Logging

/// The `log` section.
package struct LogConfiguration: Sendable, Equatable {
    /// The least level that is written.
    package var level: Logger.Level
    /// How a line looks.
    package var format: LogFormat
}
