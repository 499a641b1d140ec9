/// Where a setting was written.
package enum ConfigurationOrigin: Sendable, Hashable, CustomStringConvertible {
    /// In a file, with line and column from 1 (columns count Unicode scalars).
    case file(String, line: Int, column: Int)
    /// In an environment variable.
    case environment(String)
    /// In an environment variable that holds JSON text, with line and column from 1.
    case environmentText(String, line: Int, column: Int)
    /// Nowhere: the built-in defaults.
    case defaults

    /// `file:line:column`, or the variable's name.
    package var description: String {
        switch self {
        case .file(let path, let line, let column): "\(path):\(line):\(column)"
        case .environment(let name): name
        case .environmentText(let name, let line, let column): "\(name):\(line):\(column)"
        case .defaults: "configuration"
        }
    }
}

/// One thing that is wrong with the configuration.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it was written.
    package let origin: ConfigurationOrigin
    /// What is wrong and what would be right; never a secret.
    package let message: String

    /// `file:line:column: message`.
    package var description: String { "\(origin): \(message)" }
}

/// Everything that is wrong with the configuration, in the order of the file, then of the environment.
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
