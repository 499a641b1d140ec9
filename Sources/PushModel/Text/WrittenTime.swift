import Text

/// A point in time as a producer or a person writes it: a date and time with its offset, or seconds or milliseconds
/// since 1970. The size of the number tells seconds from milliseconds.
package struct WrittenTime: Sendable, Equatable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64
    /// Whether it was written in whole seconds, so that the milliseconds are unknown.
    package let isInSeconds: Bool

    /// The numbers that are read as seconds: from September 2001 to the end of the year 9999.
    static let seconds: ClosedRange<Int64> = 1_000_000_000...253_402_300_799
    /// The same times in milliseconds. No number is in both ranges.
    static let plausible: ClosedRange<Int64> = 1_000_000_000_000...253_402_300_799_999

    /// Reads a number; nil if it is not a plausible time.
    package init?(_ number: Int64) {
        if Self.seconds.contains(number) {
            self.init(milliseconds: number * 1_000, isInSeconds: true)
        } else if Self.plausible.contains(number) {
            self.init(milliseconds: number, isInSeconds: false)
        } else {
            return nil
        }
    }

    private init(milliseconds: Int64, isInSeconds: Bool) {
        self.milliseconds = milliseconds
        self.isInSeconds = isInSeconds
    }

    /// Reads a number's decimal digits, or a date and time (RFC 3339); nil where it is not a plausible time.
    package init?(_ text: Span<UInt8>) {
        if let number = text.wholeNumber() {
            self.init(number)
        } else if let time = DateTime.parse(text), Self.plausible.contains(time) {
            self.init(milliseconds: time, isInSeconds: text[19] != UInt8(ascii: "."))
        } else {
            return nil
        }
    }

    /// Says how an implausible number was read, and what to write instead. The sentence begins with its verb.
    package static func refusal(of number: Int64) -> String {
        let reading =
            switch number {
            case ..<0: "is negative"
            case ..<seconds.lowerBound: "as seconds since 1970 is \(DateTime.write(number * 1_000))"
            case ..<plausible.lowerBound: "as milliseconds since 1970 is \(DateTime.write(number))"
            default: "as milliseconds since 1970 is after the year 9999"
            }
        return "is \(number), which \(reading): not a plausible time; \(remedy)"
    }

    /// Says how an implausible text was read, and what to write instead. The sentence begins with its verb.
    ///
    /// A text that is neither a number nor a time is not repeated, because it may be anything.
    package static func refusal(of text: Span<UInt8>) -> String {
        if let number = text.wholeNumber() { return refusal(of: number) }
        guard let time = DateTime.parse(text) else {
            return "is neither a whole number nor a date and time with offset; \(remedy)"
        }
        return "is read as \(DateTime.write(time)): not a plausible time; \(remedy)"
    }

    /// What to write.
    package static var remedy: String {
        "write 2030-01-01T12:00:00Z, or seconds or milliseconds since 1970"
    }
}
