import Glibc

/// The dates in HTTP headers in their one preferred form:
/// [RFC 9110 section 5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
package enum HTTPDate {
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter text: The header's value.
    /// - Returns: Seconds since 1970; nil for any other form.
    package static func seconds(_ text: Span<UInt8>) -> Int64? {
        guard text.count == 29, text[3] == UInt8(ascii: ","), text[19] == UInt8(ascii: ":"),
            text[22] == UInt8(ascii: ":"), text[26] == UInt8(ascii: "G"), text[27] == UInt8(ascii: "M"),
            let day = number(text, 5, 2), let year = number(text, 12, 4), let hour = number(text, 17, 2),
            let minute = number(text, 20, 2), let second = number(text, 23, 2),
            let month = months.firstIndex(where: { name in
                (0..<3).allSatisfy { name.utf8Start[$0] == text[8 + $0] }
            }),
            day >= 1, day <= 31, hour <= 23, minute <= 59, second <= 60
        else { return nil }
        return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Writes a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter milliseconds: Since 1970.
    /// - Returns: The date.
    package static func text(milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var date = tm()
        gmtime_r(&seconds, &date)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            // The process stays in the C locale, whose names of days and months are English.
            guard strftime(base, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &date) > 0 else { return "" }
            return String(cString: base)
        }
    }

    /// Days since 1970, in a calendar whose years begin in March so that the leap day comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
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
