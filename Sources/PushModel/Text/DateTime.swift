/// Points in time as RFC 3339 writes them: <https://www.rfc-editor.org/rfc/rfc3339#section-5.6>.
package enum DateTime {
    /// Milliseconds since 1970 of a date and time with its offset, such as `2026-11-21T12:00:00.5+01:00`; nil for
    /// anything else.
    ///
    /// A leap second (`:60`) counts as the second after it; digits beyond milliseconds are dropped.
    package static func parse(_ text: Span<UInt8>) -> Int64? {
        guard text.count >= 20, let date = date(in: text), text[10] | 0x20 == UInt8(ascii: "t") else { return nil }
        guard text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            let hour = number(text, 11, 2), let minute = number(text, 14, 2), let second = number(text, 17, 2),
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
        // The inverse of what `date` computes.
        let dayOfEras = quotient - (remainder < 0 ? 1 : 0) + 719_468
        let era = (dayOfEras >= 0 ? dayOfEras : dayOfEras - 146_096) / 146_097
        let dayOfEra = dayOfEras - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
        let clock = "\(digits(second / 3_600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))"
        return "\(date)T\(clock)\(withMilliseconds ? ".\(digits(inDay % 1_000, 3))" : "")Z"
    }

    /// The days since 1970 of the date at the beginning, nil if there is no such day.
    private static func date(in text: Span<UInt8>) -> Int64? {
        guard text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            month >= 1, month <= 12, day >= 1, day <= length(of: month, in: year)
        else { return nil }
        // Years counted from March, so that the leap day is the last of its year; eras have 400 years.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func length(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
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

    /// The minutes east of UTC that the rest of the text says.
    private static func offset(in text: Span<UInt8>, at cursor: Int) -> Int64? {
        guard cursor < text.count else { return nil }
        if text[cursor] | 0x20 == UInt8(ascii: "z") { return text.count == cursor + 1 ? 0 : nil }
        guard text.count == cursor + 6, text[cursor + 3] == UInt8(ascii: ":"),
            let hours = number(text, cursor + 1, 2), let minutes = number(text, cursor + 4, 2),
            hours <= 23, minutes <= 59
        else { return nil }
        switch text[cursor] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private static func number(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> Int64? {
        var value: Int64 = 0
        for index in start..<(start + count) {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }
}
