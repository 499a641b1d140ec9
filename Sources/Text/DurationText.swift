/// Durations as people write them: a number and `ms`, `s`, `m`, `h` or `d`.
package enum DurationText {
    /// The form that ``parse(_:)`` reads, for error messages.
    package static let form = "a number and ms, s, m, h or d"

    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads a duration such as `250ms`, `1.5s`, `20m`, `6h` or `30d`: digits, with or without a decimal point, and a
    /// unit.
    ///
    /// - Parameter text: The text.
    /// - Returns: The duration, rounded to the millisecond; nil for other text, and for one too long to count in
    ///   milliseconds.
    package static func parse(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = text.dropLast(unit.suffix.count)
        // Double reads more than is allowed here: exponents, signs, hexadecimal digits, `nan`.
        guard number.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }), let count = Double(number),
            let milliseconds = Int64(exactly: (count * Double(unit.milliseconds)).rounded())
        else { return nil }
        return .milliseconds(milliseconds)
    }

    /// Writes a duration, to the millisecond, in the largest unit up to `h` that divides it.
    ///
    /// This text is part of the names of queues, so a day must stay `24h`.
    ///
    /// - Parameter duration: The duration.
    /// - Returns: The text.
    package static func write(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        let unit = units.dropLast().last { milliseconds % $0.milliseconds == 0 && milliseconds != 0 } ?? units[1]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}
