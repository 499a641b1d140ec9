/// One step that mends a difference; ``AdminCommands`` writes it down for a shell.
package enum TopologyRemedy: Sendable, Equatable {
    /// Declares a durable exchange.
    case declareExchange(name: String, kind: TopologyExchange.Kind)
    /// Deletes an exchange.
    case deleteExchange(name: String)
    /// Declares a durable queue.
    case declareQueue(name: String, kind: TopologyQueue.Kind)
    /// Deletes a queue with its messages; with `onlyIfEmpty`, only an empty one, which RabbitMQ can do with classic
    /// queues alone.
    case deleteQueue(name: String, onlyIfEmpty: Bool)
    /// Binds a queue to an exchange.
    case bind(TopologyBinding)
    /// Takes a binding away.
    case unbind(LiveTopology.Binding)
    /// Gives a policy its settings.
    case set(TopologyPolicy)
    /// Takes a policy away.
    case clear(policy: String)
    /// Takes an operator policy away, which only the broker's administrator may do.
    case clearOperatorPolicy(name: String)
    /// Lets `martlet topology apply` do it, because commands that declare and delete are not enough.
    case apply
}
