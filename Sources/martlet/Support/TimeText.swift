import ArgumentParser
import FoundationEssentials
import PushModel

/// A duration on the command line: `250ms`, `10s`, `5m`, `2h`.
struct TimeSpan: ExpressibleByArgument, Equatable {
    /// The duration.
    var duration: Duration

    /// Makes a span from a duration.
    init(_ duration: Duration) {
        self.duration = duration
    }

    /// Reads a span; `nil` for other text.
    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self.duration = duration
    }

    /// What the help shows as the default.
    var defaultValueDescription: String { DurationText.write(duration) }
}

/// A moment on the command line: ISO 8601, seconds since 1970, or from now on as in `+90s`.
struct Moment: ExpressibleByArgument, Equatable {
    /// How the moment was given.
    enum Kind: Equatable {
        /// Milliseconds since 1970.
        case absolute(Int64)
        /// From now on.
        case relative(Duration)
    }

    /// How the moment was given.
    var kind: Kind

    /// Reads a moment; `nil` for other text.
    init?(argument: String) {
        if argument.hasPrefix("+"), let span = DurationText.parse(String(argument.dropFirst())) {
            kind = .relative(span)
        } else if argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(argument),
            seconds < 1 << 40
        {
            kind = .absolute(seconds * 1000)
        } else if let date = try? Date(argument, strategy: .iso8601) {
            kind = .absolute(Int64((date.timeIntervalSince1970 * 1000).rounded()))
        } else {
            return nil
        }
    }

    /// The moment in milliseconds since 1970.
    /// - Parameter now: The present in the same unit.
    func milliseconds(now: Int64) -> Int64 {
        switch kind {
        case .absolute(let value): value
        case .relative(let span): now + span.wholeMilliseconds
        }
    }
}

/// Times as people read them.
enum TimeText {
    /// A moment in UTC to the millisecond, as `2026-11-21T12:00:00.174Z`.
    /// - Parameter milliseconds: Since 1970.
    static func moment(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// A length of time in the unit that reads best, as `41 ms`, `2.5 s`, `3 m 20 s`.
    /// - Parameter milliseconds: The length.
    static func length(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        case ..<3_600_000: "\(milliseconds / 60_000) m \(milliseconds / 1000 % 60) s"
        default: "\(milliseconds / 3_600_000) h \(milliseconds / 60_000 % 60) m"
        }
    }

    /// A count with a thin gap between thousands, as `20 000`.
    /// - Parameter value: The count.
    static func count(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { text.append(" ") }
            text.append(digit)
        }
        return text
    }
}
