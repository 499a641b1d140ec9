import PushModel

/// Which of the configured routes a worker serves.
package enum RouteShare: Sendable, Equatable, CustomStringConvertible {
    /// Every route.
    case all
    /// The share of one worker in a fleet of fixed size.
    case fixed(number: Int, of: Int)
    /// A share among the live workers, which find each other by their reports.
    case automatic

    /// The most workers of a fleet.
    package static let mostWorkers = 1_000

    /// What ``init(parsing:)`` reads.
    package var description: String {
        switch self {
        case .all: "all"
        case .automatic: "auto"
        case .fixed(let number, let count): "\(number)/\(count)"
        }
    }

    /// Reads `all`, `auto`, or a worker's number and how many there are, as in `2/6`.
    ///
    /// - Throws: A ``Rejection`` that says what to write.
    init(parsing text: String) throws(Rejection) {
        switch text {
        case "all": self = .all
        case "auto": self = .automatic
        default: self = try Self.fixed(text)
        }
    }

    private static func fixed(_ text: String) throws(Rejection) -> RouteShare {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Self.number(parts[0]), let count = Self.number(parts[1]) else {
            throw Rejection(
                "\"\(text)\" is not a share of the routes: write all, auto, or this worker's number and how many "
                    + "workers there are, as in 2/6")
        }
        guard count <= mostWorkers else {
            throw Rejection("\"\(text)\" is a share of too many workers: there may be 1 to \(mostWorkers)")
        }
        guard number <= count else {
            throw Rejection("\"\(text)\" has no worker of that number: write 1/\(count) to \(count)/\(count)")
        }
        return .fixed(number: number, of: count)
    }

    /// A whole number from 1, written with digits alone, so that each share has one spelling.
    private static func number(_ text: Substring) -> Int? {
        guard let first = text.utf8.first, first != UInt8(ascii: "0"),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }
}
