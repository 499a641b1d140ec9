/// A binding from an exchange to a queue.
package struct TopologyBinding: Sendable, Hashable, CustomStringConvertible {
    /// The exchange.
    package let source: String
    /// The queue.
    package let queue: String
    /// The key or pattern; empty for a fanout exchange.
    package let routingKey: String

    /// The exchange and the key: where messages are that it leads on.
    struct Address: Hashable {
        /// The exchange.
        let source: String
        /// The key or pattern.
        let routingKey: String
    }

    /// Where messages are that it leads on.
    var address: Address { Address(source: source, routingKey: routingKey) }

    /// How rows of a comparison call it.
    package var description: String {
        "binding \(source) -> \(queue)\(routingKey.isEmpty ? "" : " by \(routingKey)")"
    }
}

extension TopologyBinding {
    /// What a binding of a broker is, without the management API's name for it.
    init(_ binding: LiveTopology.Binding) {
        self.init(source: binding.source, queue: binding.destination, routingKey: binding.routingKey)
    }
}
