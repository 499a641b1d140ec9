import ArgumentParser
import Text

/// A duration on the command line, as ``DurationText`` reads it.
struct TimeSpan: ExpressibleByArgument, Equatable {
    /// The duration.
    var duration: Duration

    /// Makes a span from a duration.
    init(_ duration: Duration) {
        self.duration = duration
    }

    /// Reads a span; `nil` for other text.
    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self.duration = duration
    }

    /// The text that the help shows for a default.
    var defaultValueDescription: String { DurationText.write(duration) }
}
