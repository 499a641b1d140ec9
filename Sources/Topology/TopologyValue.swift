/// A setting of a policy.
package enum TopologyValue: Sendable, Equatable {
    /// A number.
    case integer(Int64)
    /// A word.
    case text(String)
}
