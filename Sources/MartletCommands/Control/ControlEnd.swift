import ArgumentParser
import Text

/// When a command ends by itself.
struct ControlEnd: ParsableArguments {
    @Option(name: .customLong("for"), help: "The command ends by itself after this time, for example 2h; at most 30d.")
    var duration: TimeSpan?
    @Option(help: "The command ends by itself then: a time, or +2h.", transform: MomentArgument.init)
    var until: MomentArgument?

    func validate() throws {
        if duration != nil, until != nil { throw ValidationError("--for and --until say the same: give one of them.") }
    }

    /// The end in milliseconds since 1970; nil where none was given.
    ///
    /// - Parameter now: The present in the same unit.
    func milliseconds(now: Int64) -> Int64? {
        duration.map { now +| $0.duration.wholeMilliseconds } ?? until?.milliseconds(now: now)
    }
}
