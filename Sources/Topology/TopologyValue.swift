/// A setting of a policy.
package enum TopologyValue: Sendable, Equatable {
    /// A number.
    case integer(Int64)
    /// A word.
    case text(String)

    /// The setting as people read it.
    var words: String {
        switch self {
        case .integer(let number): "\(number)"
        case .text(let text): text
        }
    }
}
