package import Text

extension DurationText {
    /// Reads a duration of at most ten years, as far as the simulator's clock can be put forward.
    ///
    /// - Parameter text: The text.
    /// - Returns: Milliseconds, or nil where it is not a duration or longer than ten years.
    package static func milliseconds(_ text: String) -> Int64? {
        guard let milliseconds = parse(text)?.wholeMilliseconds, milliseconds <= VirtualClock.advanceLimit else {
            return nil
        }
        return milliseconds
    }
}
