/// Points in time as RFC 3339 writes them: <https://www.rfc-editor.org/rfc/rfc3339#section-5.6>.
package enum DateTime {
    /// Milliseconds since 1970 of a date and time with its offset, such as `2026-11-21T12:00:00.5+01:00`; nil for
    /// anything else.
    ///
    /// A leap second (`:60`) counts as the second after it; digits beyond milliseconds are dropped.
    package static func parse(_ text: Span<UInt8>) -> Int64? {
        guard text.count >= 20, let date = date(in: text), text[10] | 0x20 == UInt8(ascii: "t") else { return nil }
        guard text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            let hour = text.decimalNumber(at: 11, count: 2), let minute = text.decimalNumber(at: 14, count: 2),
            let second = text.decimalNumber(at: 17, count: 2),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        var cursor = 19
        guard let fraction = fraction(in: text, at: &cursor), let offset = offset(in: text, at: cursor) else {
            return nil
        }
        let seconds = date * 86_400 + hour * 3_600 + minute * 60 + second - offset * 60
        return seconds * 1_000 + fraction
    }

    /// A point in time in UTC, such as `2026-11-21T12:00:00Z` or `2026-11-21T12:00:00.123Z`.
    ///
    /// - Parameters:
    ///   - milliseconds: Since 1970.
    ///   - withMilliseconds: Whether the milliseconds are written, too.
    package static func write(_ milliseconds: Int64, withMilliseconds: Bool = false) -> String {
        func digits(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let inDay = remainder < 0 ? remainder + 86_400_000 : remainder
        let second = inDay / 1_000
        let (year, month, day) = CalendarDay.date(quotient - (remainder < 0 ? 1 : 0))
        let date = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
        let clock = "\(digits(second / 3_600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))"
        return "\(date)T\(clock)\(withMilliseconds ? ".\(digits(inDay % 1_000, 3))" : "")Z"
    }

    /// The days since 1970 of the date at the beginning, nil if there is no such day.
    private static func date(in text: Span<UInt8>) -> Int64? {
        guard text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let year = text.decimalNumber(at: 0, count: 4), let month = text.decimalNumber(at: 5, count: 2),
            let day = text.decimalNumber(at: 8, count: 2)
        else { return nil }
        return CalendarDay.number(year: year, month: month, day: day)
    }

    /// The milliseconds of an optional fraction; nil for a point without digits.
    private static func fraction(in text: Span<UInt8>, at cursor: inout Int) -> Int64? {
        guard text[cursor] == UInt8(ascii: ".") else { return 0 }
        cursor += 1
        let start = cursor
        var milliseconds: Int64 = 0
        var weight: Int64 = 100
        while cursor < text.count, text[cursor] &- UInt8(ascii: "0") <= 9 {
            milliseconds += Int64(text[cursor] - UInt8(ascii: "0")) * weight
            weight /= 10
            cursor += 1
        }
        return cursor > start ? milliseconds : nil
    }

    /// The offset that the rest of the text says, in minutes east of UTC.
    private static func offset(in text: Span<UInt8>, at cursor: Int) -> Int64? {
        guard cursor < text.count else { return nil }
        if text[cursor] | 0x20 == UInt8(ascii: "z") { return text.count == cursor + 1 ? 0 : nil }
        guard text.count == cursor + 6, text[cursor + 3] == UInt8(ascii: ":"),
            let hours = text.decimalNumber(at: cursor + 1, count: 2),
            let minutes = text.decimalNumber(at: cursor + 4, count: 2),
            hours <= 23, minutes <= 59
        else { return nil }
        switch text[cursor] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }
}
