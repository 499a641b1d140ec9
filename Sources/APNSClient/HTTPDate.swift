/// Reading of the dates in HTTP headers (RFC 9110, section 5.6.7), in their one preferred form.
enum HTTPDate {
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter text: The header's value.
    /// - Returns: Seconds since 1970; nil for any other form.
    static func seconds(_ text: Span<UInt8>) -> Int64? {
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

    /// Days since 1970, in a calendar whose years begin in March so that the leap day comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func number(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> Int64? {
        DecimalText.number(text.extracting(start..<(start + count)))
    }
}
