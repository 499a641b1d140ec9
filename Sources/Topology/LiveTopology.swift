/// The objects that a broker's virtual host holds now, as far as the comparison needs them.
package struct LiveTopology: Sendable, Equatable {
    /// An exchange as it is.
    package struct Exchange: Sendable, Equatable {
        /// The name.
        package var name: String
        /// `topic`, `fanout`, `direct`, `headers` or a plugin's.
        package var kind: String
        /// Whether it survives a restart of the broker.
        package var isDurable: Bool
        /// The policy in effect, if any.
        package var policy: String?
        /// The alternate exchange of its declaration, if any. It takes precedence over that of a policy.
        package var alternate: String?
        /// Whether nobody can publish to it.
        package var isInternal: Bool
        /// Whether it goes with its last binding.
        package var isAutoDeleted: Bool

        /// Makes an exchange from its parts.
        package init(
            name: String, kind: String, isDurable: Bool = true, policy: String? = nil, alternate: String? = nil,
            isInternal: Bool = false, isAutoDeleted: Bool = false
        ) {
            self.name = name
            self.kind = kind
            self.isDurable = isDurable
            self.policy = policy
            self.alternate = alternate
            self.isInternal = isInternal
            self.isAutoDeleted = isAutoDeleted
        }
    }

    /// A queue as it is.
    package struct Queue: Sendable, Equatable {
        /// The name.
        package var name: String
        /// `quorum`, `classic` or `stream`; nil where the broker does not tell.
        package var kind: String?
        /// Whether it survives a restart of the broker.
        package var isDurable: Bool
        /// The names of the arguments of its declaration, without `x-queue-type`. Arguments win over policies.
        package var arguments: [String]
        /// Where its declaration sends dead letters; nil where it does not say so.
        package var deadLetters: DeadLetters?
        /// The policy in effect. Nil for none, and where the broker does not tell: up to version 3.13, it tells the
        /// policy of a quorum queue only some seconds after the queue was made or the node was started.
        package var policy: String?
        /// The operator policy in effect; nil for none, and where the broker does not tell.
        package var operatorPolicy: String?
        /// The node that leads it, for a quorum queue or a stream; nil where the broker does not tell.
        package var leader: String?
        /// The nodes that keep it, for a quorum queue or a stream; empty where the broker does not tell.
        package var members: [String]
        /// How many messages are in it; nil where the broker does not tell.
        package var messages: Int?
        /// How many consumers take from it; nil where the broker does not tell.
        package var consumers: Int?

        /// Where a queue sends its dead letters.
        package struct DeadLetters: Sendable, Equatable {
            /// The exchange.
            package var exchange: String
            /// The routing key; nil for that of the message.
            package var key: String?

            /// Makes it from its parts.
            package init(exchange: String, key: String? = nil) {
                self.exchange = exchange
                self.key = key
            }
        }

        /// Makes a queue from its parts.
        package init(
            name: String, kind: String?, isDurable: Bool = true, arguments: [String] = [],
            deadLetters: DeadLetters? = nil, policy: String? = nil, operatorPolicy: String? = nil,
            leader: String? = nil, members: [String] = [], messages: Int? = nil, consumers: Int? = nil
        ) {
            self.name = name
            self.kind = kind
            self.isDurable = isDurable
            self.arguments = arguments
            self.deadLetters = deadLetters
            self.policy = policy
            self.operatorPolicy = operatorPolicy
            self.leader = leader
            self.members = members
            self.messages = messages
            self.consumers = consumers
        }
    }

    /// A binding as it is.
    package struct Binding: Sendable, Equatable {
        /// The exchange.
        package var source: String
        /// Where messages go.
        package var destination: String
        /// Whether the destination is a queue and not an exchange.
        package var isToQueue: Bool
        /// The key or pattern.
        package var routingKey: String
        /// The management API's name for the binding among those of the same source and destination.
        package var propertiesKey: String

        /// Makes a binding from its parts.
        package init(
            source: String, destination: String, isToQueue: Bool = true, routingKey: String, propertiesKey: String
        ) {
            self.source = source
            self.destination = destination
            self.isToQueue = isToQueue
            self.routingKey = routingKey
            self.propertiesKey = propertiesKey
        }
    }

    /// A policy as it is. A setting that is neither a number nor a word has a text that says so.
    package struct Policy: Sendable, Equatable {
        /// The name.
        package var name: String
        /// The expression that object names must match.
        package var pattern: String
        /// The kind of objects that it applies to: `queues`, `exchanges`, `all`, or a kind of queue.
        package var scope: String
        /// The priority. Among the policies that match an object, the highest wins.
        package var priority: Int
        /// The settings by their policy keys.
        package var settings: [String: TopologyValue]

        /// Makes a policy from its parts.
        package init(name: String, pattern: String, scope: String, priority: Int, settings: [String: TopologyValue]) {
            self.name = name
            self.pattern = pattern
            self.scope = scope
            self.priority = priority
            self.settings = settings
        }
    }

    /// The exchanges.
    package var exchanges: [Exchange]
    /// The queues.
    package var queues: [Queue]
    /// The bindings, those of the default exchange included.
    package var bindings: [Binding]
    /// The policies.
    package var policies: [Policy]
    /// The operator policies: what the broker's administrator puts over all policies.
    package var operatorPolicies: [Policy]

    /// Makes a picture of a virtual host from its parts.
    package init(
        exchanges: [Exchange] = [], queues: [Queue] = [], bindings: [Binding] = [], policies: [Policy] = [],
        operatorPolicies: [Policy] = []
    ) {
        self.exchanges = exchanges
        self.queues = queues
        self.bindings = bindings
        self.policies = policies
        self.operatorPolicies = operatorPolicies
    }
}

extension LiveTopology {
    /// The queues that must be there whatever the configuration is: those of every topology, and those that have a policy
    /// of their own. Who removes such a queue removes its policy, too.
    package var queuesOfAnyTopology: [String] {
        let single = policies.map(\.name).filter {
            TopologyNames.isTierQueue($0) || TopologyNames.isFurtherResultsQueue($0)
        }
        return BrokerTopology(routes: [], tiers: []).queues.map(\.name) + single
    }
}
