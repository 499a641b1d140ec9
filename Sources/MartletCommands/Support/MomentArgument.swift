import ArgumentParser
import FoundationEssentials
import Text

/// A moment on the command line: ISO 8601, seconds since 1970, or from now on as in `+90s`.
struct MomentArgument: ExpressibleByArgument, Equatable {
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
