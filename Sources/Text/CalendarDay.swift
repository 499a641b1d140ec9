/// Days of the Gregorian calendar, counted from 1 January 1970 as Unix time counts them.
///
/// Years are counted from March, so that the leap day is the last day of its year. An era has 400 years. All eras have
/// the same number of days.
enum CalendarDay {
    private static let daysOfEra: Int64 = 146_097
    /// From 1 March of the year 0 to 1 January 1970.
    private static let epoch: Int64 = 719_468

    /// The number of a day; nil if there is no such day.
    ///
    /// - Parameters:
    ///   - year: In the Gregorian calendar, also for years before it was in use.
    ///   - month: From 1.
    ///   - day: From 1.
    static func number(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (1...12).contains(month), day >= 1, day <= length(of: month, in: year) else { return nil }
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * daysOfEra + dayOfEra - epoch
    }

    /// The date of a day, the inverse of ``number(year:month:day:)``.
    ///
    /// - Parameter number: Days since 1 January 1970.
    static func date(_ number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = number + epoch
        let era = (days >= 0 ? days : days - (daysOfEra - 1)) / daysOfEra
        let dayOfEra = days - era * daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func length(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Span<UInt8> {
    /// The number that some decimal digits write; nil if there is another byte among them.
    ///
    /// - Parameters:
    ///   - start: The index of the first digit; all of them must be within the span.
    ///   - count: How many digits, at most 18.
    func decimalNumber(at start: Int, count: Int) -> Int64? {
        var value: Int64 = 0
        for index in start..<(start + count) {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }
}
