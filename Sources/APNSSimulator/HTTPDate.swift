import Glibc

/// Dates as HTTP headers want them (RFC 9110, section 5.6.7).
enum HTTPDate {
    /// Writes a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter milliseconds: Since 1970.
    /// - Returns: The date in the one preferred form.
    static func text(milliseconds: Int64) -> String {
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
