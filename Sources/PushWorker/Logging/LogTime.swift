/// A moment as log lines write it: UTC, with milliseconds.
///
/// [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6)
struct LogTime {
    /// Milliseconds since 1970.
    let milliseconds: Int64

    /// `2026-11-21T12:00:00.123Z`.
    var full: String {
        let days = Int(milliseconds.flooredQuotient(by: 86_400_000))
        let (year, month, day) = Self.date(days)
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T\(clock)Z"
    }

    /// `2026-11-21 12:00:00 UTC`, for sentences.
    var toTheSecond: String { "\(full.prefix(10)) \(clock.prefix(8)) UTC" }

    /// `12:00:00.123`.
    var clock: String {
        let inDay = Int(milliseconds - milliseconds.flooredQuotient(by: 86_400_000) * 86_400_000)
        let (hour, minute, second) = (inDay / 3_600_000, inDay / 60000 % 60, inDay / 1000 % 60)
        return "\(Self.padded(hour, 2)):\(Self.padded(minute, 2)):\(Self.padded(second, 2))"
            + ".\(Self.padded(inDay % 1000, 3))"
    }

    /// The Gregorian date of a day since 1970, counted in years that begin in March so that leap days come last.
    private static func date(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = Int64(shifted).flooredQuotient(by: 146_097)
        let dayOfEra = shifted - Int(era) * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int64 {
    /// The quotient rounded towards minus infinity.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
