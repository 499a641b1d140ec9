/// An exchange of the broker; always durable, never deleted by itself.
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
