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

    /// `file:line:column`; the variable's name, with line and column for JSON text; or `configuration` for the
    /// defaults.
    package var description: String {
        switch self {
        case .file(let path, let line, let column): "\(path):\(line):\(column)"
        case .environment(let name): name
        case .environmentText(let name, let line, let column): "\(name):\(line):\(column)"
        case .defaults: "configuration"
        }
    }
}
