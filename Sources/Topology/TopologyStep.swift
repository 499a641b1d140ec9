/// One change of a broker on its way to a topology.
package enum TopologyStep: Sendable, Equatable {
    /// Gives a policy its settings.
    case set(TopologyPolicy)
    /// Declares an exchange.
    case declareExchange(TopologyExchange)
    /// Declares a queue.
    case declareQueue(TopologyQueue)
    /// Binds a queue to an exchange.
    case bind(TopologyBinding)
    /// Takes a binding away.
    case unbind(LiveTopology.Binding)
    /// Lets what waits in a tier come back at once. RabbitMQ decides when a message expires as it takes it: what it took
    /// while the tier had no policy never does, also with the policy back, and keeps all behind it from expiring.
    case release(tier: String)
    /// Takes a policy away.
    case clear(policy: String)
}
