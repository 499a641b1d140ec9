/// A binding from an exchange to a queue.
package struct TopologyBinding: Sendable, Hashable, CustomStringConvertible {
    /// The exchange.
    package let source: String
    /// The queue.
    package let queue: String
    /// The key or pattern; empty for a fanout exchange.
    package let routingKey: String

    /// The exchange and the key of the messages that a binding leads to its queue.
    struct Address: Hashable {
        /// The exchange.
        let source: String
        /// The key or pattern.
        let routingKey: String
    }

    /// The exchange and the key of the messages that the binding leads to its queue.
    var address: Address { Address(source: source, routingKey: routingKey) }

    /// The binding as rows of a comparison name it.
    package var description: String {
        "binding \(source) -> \(queue)\(routingKey.isEmpty ? "" : " by \(routingKey)")"
    }
}

extension TopologyBinding {
    /// A broker's binding, without the management API's name for it.
    init(_ binding: LiveTopology.Binding) {
        self.init(source: binding.source, queue: binding.destination, routingKey: binding.routingKey)
    }
}

extension TopologyBinding {
    /// The binding that stands in for this one while it moves; nil if its exchange has no bindings that move.
    var whileMoving: TopologyBinding? {
        TopologyNames.moving[source].map { TopologyBinding(source: $0, queue: queue, routingKey: routingKey) }
    }

    /// The address of the binding for which this one stands in; nil if it stands in for none.
    var origin: Address? {
        TopologyNames.moving.first { $0.value == source }.map { Address(source: $0.key, routingKey: routingKey) }
    }
}
