package import Logging

/// The `log` section.
package struct LogConfiguration: Sendable, Equatable {
    /// How a log line looks.
    package enum Format: String, Sendable, CaseIterable {
        /// Text on a terminal, JSON elsewhere.
        case automatic = "auto"
        /// One JSON object per line.
        case json
        /// For people.
        case text
    }

    /// The least level that is written.
    package var level: Logger.Level
    /// How a line looks.
    package var format: Format
}
