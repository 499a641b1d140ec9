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

extension TopologyBinding {
    /// Where it leads its key while it moves; nil for one that does not begin where jobs do.
    var whileMoving: TopologyBinding? {
        TopologyNames.moving[source].map { TopologyBinding(source: $0, queue: queue, routingKey: routingKey) }
    }

    /// The address of the binding for which this one stood in while it moved; nil where it stands in for none.
    var origin: Address? {
        TopologyNames.moving.first { $0.value == source }.map { Address(source: $0.key, routingKey: routingKey) }
    }
}
