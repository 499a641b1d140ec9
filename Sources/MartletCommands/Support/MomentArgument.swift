import ArgumentParser
import PushModel
import Text

/// A moment on the command line: a time in any form that jobs may use, or a time from now such as `+90s`.
struct MomentArgument: Equatable {
    /// How the moment was given.
    enum Kind: Equatable {
        /// Milliseconds since 1970.
        case absolute(Int64)
        /// So long after now.
        case relative(Duration)
        /// The next moment at which local clocks show this time of day.
        case clock(LocalClock)
    }

    /// How the moment was given.
    var kind: Kind

    /// Reads a moment.
    ///
    /// - Parameter text: What follows the flag.
    /// - Throws: A `ValidationError` that says how the text was read.
    init(_ text: String) throws {
        if text.hasPrefix("+") {
            guard let span = DurationText.parse(String(text.dropFirst())) else {
                throw ValidationError("What follows + is not a length of time; write +90s, +10m or +2h.")
            }
            kind = .relative(span)
            return
        }
        let bytes = Array(text.utf8)
        guard let time = WrittenTime(bytes.span) else {
            throw ValidationError("It \(WrittenTime.refusal(of: bytes.span)), or +10m for ten minutes from now.")
        }
        kind = .absolute(time.milliseconds)
    }

    /// Reads a moment, or 0, which means one attempt to Apple.
    ///
    /// - Parameter text: What follows the flag.
    /// - Throws: A `ValidationError` that says how the text was read.
    static func orZero(_ text: String) throws -> MomentArgument {
        text == "0" ? MomentArgument(kind: .absolute(0)) : try MomentArgument(text)
    }

    /// Reads a moment, or a time of day such as `18:00` or `18:00:30`.
    ///
    /// - Parameter text: What follows the flag.
    /// - Throws: A `ValidationError` that says how the text was read.
    static func orClock(_ text: String) throws -> MomentArgument {
        guard text.utf8.dropFirst().prefix(2).contains(UInt8(ascii: ":")) else { return try MomentArgument(text) }
        guard let clock = LocalClock(text) else {
            throw ValidationError("It is not a time of day; write 18:00 or 18:00:30, from 0:00 to 23:59:59.")
        }
        return MomentArgument(kind: .clock(clock))
    }

    private init(kind: Kind) { self.kind = kind }

    /// The moment in milliseconds since 1970.
    ///
    /// - Parameter now: The present in the same unit.
    func milliseconds(now: Int64) -> Int64 {
        switch kind {
        case .absolute(let value): value
        case .relative(let span): now +| span.wholeMilliseconds
        case .clock(let clock): clock.next(after: now)
        }
    }
}
