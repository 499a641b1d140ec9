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
    /// Lets the messages that wait in a tier come back at once. RabbitMQ sets the time at which a message expires when
    /// a queue takes the message. A message that came while the tier had no policy never expires, even after the policy
    /// is back. The messages behind it do not expire either.
    case release(tier: String)
    /// Takes a policy away.
    case clear(policy: String)
}
