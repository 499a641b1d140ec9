/// Durations as people write them.
package enum DurationText {
    private static let units: [(suffix: String, milliseconds: Double)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads a duration such as `250ms`, `1.5s`, `20m`, `1h` or `30d`.
    ///
    /// - Parameter text: The text.
    /// - Returns: Milliseconds, or nil where it is no duration or longer than ten years.
    package static func milliseconds(_ text: String) -> Int64? {
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            guard let number = Double(text.dropLast(suffix.count)), number >= 0 else { continue }
            let milliseconds = (number * factor).rounded()
            return milliseconds <= Double(VirtualClock.advanceLimit) ? Int64(milliseconds) : nil
        }
        return nil
    }
}
