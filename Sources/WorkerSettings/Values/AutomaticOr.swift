/// A number, or `auto`: the worker works the number out from the machine and its peers.
package enum AutomaticOr<Value: Sendable & Equatable>: Sendable, Equatable, CustomStringConvertible {
    /// Worked out at run time.
    case automatic
    /// As written.
    case fixed(Value)

    /// `auto`, or the number.
    package var description: String {
        switch self {
        case .automatic: "auto"
        case .fixed(let value): "\(value)"
        }
    }
}
