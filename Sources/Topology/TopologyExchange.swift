/// An exchange of the broker. It is durable, and never deleted automatically.
package struct TopologyExchange: Sendable, Equatable {
    /// How an exchange routes.
    package enum Kind: String, Sendable {
        /// By pattern, to everyone, or by exact key.
        case topic, fanout, direct
    }

    /// The name.
    package let name: String
    /// How it routes.
    package let kind: Kind
    /// The name of the policy that is to be in effect for it; nil for none.
    package let policy: String?
}
