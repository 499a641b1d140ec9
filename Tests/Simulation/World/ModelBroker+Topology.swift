@testable import Topology

extension ModelBroker {
    /// Declares what a topology needs.
    func declare(_ topology: BrokerTopology) {
        for exchange in topology.exchanges {
            declareExchange(exchange.name, ModelExchange.Kind(rawValue: exchange.kind.rawValue) ?? .topic)
        }
        for policy in topology.policies {
            guard let pattern = BrokerPattern(policy.pattern) else { continue }
            let settings = policy.settings.map { setting in
                switch setting.value {
                case .integer(let number): (name: setting.key, value: WireValue.long(number))
                case .text(let text): (name: setting.key, value: WireValue.text(text))
                }
            }
            setPolicy(policy.name, priority: policy.priority, definition: WireTable(settings)) { pattern.matches($0) }
        }
        for queue in topology.queues { declareQueue(queue.name, queue.kind == .stream ? .stream : .quorum) }
        for binding in topology.bindings {
            exchanges[binding.source]?.bind(
                ModelExchange.Binding(key: binding.routingKey, destination: .queue(binding.queue)))
        }
    }
}
