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

        /// Makes an exchange from its parts.
        package init(name: String, kind: String, isDurable: Bool = true, policy: String? = nil) {
            self.name = name
            self.kind = kind
            self.isDurable = isDurable
            self.policy = policy
        }
    }

    /// A queue as it is.
    package struct Queue: Sendable, Equatable {
        /// The name.
        package var name: String
        /// `quorum`, `classic` or `stream`.
        package var kind: String
        /// Whether it survives a restart of the broker.
        package var isDurable: Bool
        /// The names of the arguments of its declaration, without `x-queue-type`. Arguments win over policies.
        package var arguments: [String]
        /// The policy in effect, if any.
        package var policy: String?
        /// The node that leads it, for a quorum queue or a stream; nil where the broker does not tell.
        package var leader: String?
        /// The nodes that keep it, for a quorum queue or a stream; empty where the broker does not tell.
        package var members: [String]
        /// How many messages are in it; nil where the broker does not tell.
        package var messages: Int?

        /// Makes a queue from its parts.
        package init(
            name: String, kind: String, isDurable: Bool = true, arguments: [String] = [], policy: String? = nil,
            leader: String? = nil, members: [String] = [], messages: Int? = nil
        ) {
            self.name = name
            self.kind = kind
            self.isDurable = isDurable
            self.arguments = arguments
            self.policy = policy
            self.leader = leader
            self.members = members
            self.messages = messages
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

    /// Makes a picture of a virtual host from its parts.
    package init(
        exchanges: [Exchange] = [], queues: [Queue] = [], bindings: [Binding] = [], policies: [Policy] = []
    ) {
        self.exchanges = exchanges
        self.queues = queues
        self.bindings = bindings
        self.policies = policies
    }
}
