/// A number, or the wish to have it worked out from the machine and the peers.
package enum AutomaticOr<Value: Sendable & Equatable>: Sendable, Equatable {
    /// Worked out at run time.
    case automatic
    /// As written.
    case fixed(Value)
}
