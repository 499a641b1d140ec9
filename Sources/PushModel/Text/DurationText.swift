/// Durations as people write them: a whole number and `ms`, `s`, `m` or `h`.
package enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// Reads a duration; nil for other text, and for one too long to count in milliseconds.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
        else { return nil }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : .milliseconds(milliseconds)
    }

    /// Writes a duration, to the millisecond, in the largest unit that divides it.
    package static func write(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        let unit = units.last { milliseconds % $0.milliseconds == 0 && milliseconds != 0 } ?? units[1]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}

extension Duration {
    /// The duration in milliseconds, fractions dropped.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
