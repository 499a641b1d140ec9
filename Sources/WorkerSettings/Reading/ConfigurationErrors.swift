/// Everything that is wrong with the configuration: errors without a place, then in the order of the file, then those
/// of the environment.
package struct ConfigurationErrors: Error, Sendable, CustomStringConvertible {
    /// The errors; at least one.
    package let all: [ConfigurationError]

    /// Sorts errors by place and drops repeated ones.
    package init(_ errors: [ConfigurationError]) {
        var seen = Set<ConfigurationError>()
        all = errors.filter { seen.insert($0).inserted }.enumerated().sorted { left, right in
            let (first, second) = (Self.rank(left.element.origin), Self.rank(right.element.origin))
            return first == second ? left.offset < right.offset : first < second
        }.map(\.element)
    }

    /// One error per line.
    package var description: String { all.map(\.description).joined(separator: "\n") }

    private static func rank(_ origin: ConfigurationOrigin) -> (Int, Int, Int) {
        switch origin {
        case .defaults: (0, 0, 0)
        case .file(_, let line, let column): (1, line, column)
        case .environment, .environmentText: (2, 0, 0)
        }
    }
}
