import ArgumentParser
import PushModel

/// A duration on the command line: `250ms`, `10s`, `5m`, `2h`.
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

    /// What the help shows as the default.
    var defaultValueDescription: String { DurationText.write(duration) }
}
