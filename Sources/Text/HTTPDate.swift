import Glibc

/// The dates in HTTP headers, in the preferred form:
/// [RFC 9110 section 5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
package enum HTTPDate {
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// The name of the weekday, the spaces and the last letter are not checked.
    ///
    /// - Parameter text: The header's value.
    /// - Returns: Seconds since 1970; nil for the other forms, and for a day that the calendar does not have.
    package static func seconds(_ text: Span<UInt8>) -> Int64? {
        guard text.count == 29, text[3] == UInt8(ascii: ","), text[19] == UInt8(ascii: ":"),
            text[22] == UInt8(ascii: ":"), text[26] == UInt8(ascii: "G"), text[27] == UInt8(ascii: "M"),
            let day = text.decimalNumber(at: 5, count: 2), let year = text.decimalNumber(at: 12, count: 4),
            let hour = text.decimalNumber(at: 17, count: 2),
            let minute = text.decimalNumber(at: 20, count: 2), let second = text.decimalNumber(at: 23, count: 2),
            let month = months.firstIndex(where: { name in
                (0..<3).allSatisfy { name.utf8Start[$0] == text[8 + $0] }
            }),
            let date = CalendarDay.number(year: year, month: Int64(month) + 1, day: day),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        return date * 86_400 + hour * 3_600 + minute * 60 + second
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
}
