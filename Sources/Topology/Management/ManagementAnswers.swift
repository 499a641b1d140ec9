import Foundation
import PushModel

/// The parts of the management API's answers that are read here.
///
/// [HTTP API reference](https://www.rabbitmq.com/docs/http-api-reference)
enum ManagementAnswers {
    /// An object whose contents do not matter.
    struct Nothing: Decodable {}

    /// An element of a list of a virtual host's objects.
    protocol Element: Decodable {
        /// The virtual host; nil where the API does not tell.
        var vhost: String? { get }
    }

    /// An element of `/api/vhosts`.
    struct VirtualHost: Decodable {
        let name: String
    }

    /// An element of `/api/exchanges/<vhost>`.
    struct Exchange: Element {
        let vhost: String?
        let name: String
        let type: String
        let durable: Bool
        let autoDelete: Bool?
        let `internal`: Bool?
        let policy: String?
        let arguments: Arguments?

        enum CodingKeys: String, CodingKey {
            case vhost, name, type, durable, `internal`, policy, arguments
            case autoDelete = "auto_delete"
        }
    }

    /// An element of `/api/queues/<vhost>`.
    struct Queue: Element {
        let vhost: String?
        let name: String
        let type: String?
        let durable: Bool
        let arguments: Arguments?
        let policy: String?
        let operatorPolicy: String?
        let leader: String?
        let members: [String]?
        let messages: Int?
        let consumers: Int?

        enum CodingKeys: String, CodingKey {
            case vhost, name, type, durable, arguments, policy, leader, members, messages, consumers
            case operatorPolicy = "operator_policy"
        }
    }

    /// An element of `/api/bindings/<vhost>`.
    struct Binding: Element {
        let vhost: String?
        let source: String
        let destination: String
        let destinationType: String
        let routingKey: String
        let propertiesKey: String

        enum CodingKeys: String, CodingKey {
            case vhost, source, destination
            case destinationType = "destination_type"
            case routingKey = "routing_key"
            case propertiesKey = "properties_key"
        }
    }

    /// An element of `/api/policies/<vhost>` and of `/api/operator-policies/<vhost>`.
    struct Policy: Element {
        let vhost: String?
        let name: String
        let pattern: String
        let applyTo: String
        let priority: Int
        let definition: [String: Value]

        enum CodingKeys: String, CodingKey {
            case vhost, name, pattern, priority, definition
            case applyTo = "apply-to"
        }
    }

    /// The arguments of a queue, or the settings of a policy. RabbitMQ writes an empty list for none.
    struct Arguments: Decodable {
        let values: [String: Value]

        init(from decoder: any Decoder) throws {
            values = (try? decoder.singleValueContainer().decode([String: Value].self)) ?? [:]
        }
    }

    /// A value of a policy or an argument: a number, a word, or a text that says that it is neither.
    struct Value: Decodable {
        let value: TopologyValue

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                value = .integer(number)
            } else if let text = try? container.decode(String.self) {
                value = .text(text)
            } else {
                value = .text("neither a number nor a word")
            }
        }
    }
}

extension LiveTopology {
    /// Puts the API's answers together.
    init(
        exchanges: [ManagementAnswers.Exchange], queues: [ManagementAnswers.Queue],
        bindings: [ManagementAnswers.Binding], policies: [ManagementAnswers.Policy],
        operatorPolicies: [ManagementAnswers.Policy]
    ) {
        self.init(
            exchanges: exchanges.map {
                Exchange(
                    name: $0.name, kind: $0.type, isDurable: $0.durable, policy: $0.policy,
                    alternate: $0.arguments?.values["alternate-exchange"]?.value.words,
                    isInternal: $0.internal ?? false, isAutoDeleted: $0.autoDelete ?? false)
            },
            queues: queues.map(Queue.init),
            bindings: bindings.map {
                Binding(
                    source: $0.source, destination: $0.destination, isToQueue: $0.destinationType == "queue",
                    routingKey: $0.routingKey, propertiesKey: $0.propertiesKey)
            },
            policies: policies.map(Policy.init), operatorPolicies: operatorPolicies.map(Policy.init))
    }
}

extension LiveTopology.Queue {
    /// Takes what the API says of a queue.
    init(_ queue: ManagementAnswers.Queue) {
        let arguments = (queue.arguments?.values ?? [:]).filter { $0.key != TopologyQueue.Kind.argument }
        self.init(
            name: queue.name, kind: queue.type, isDurable: queue.durable, arguments: arguments.keys.sorted(),
            deadLetters: arguments["x-dead-letter-exchange"].map {
                DeadLetters(exchange: $0.value.words, key: arguments["x-dead-letter-routing-key"]?.value.words)
            }, policy: queue.policy, operatorPolicy: queue.operatorPolicy, leader: queue.leader,
            members: queue.members ?? [], messages: queue.messages, consumers: queue.consumers)
    }
}

extension LiveTopology.Policy {
    /// Takes what the API says of a policy.
    init(_ policy: ManagementAnswers.Policy) {
        self.init(
            name: policy.name, pattern: policy.pattern, scope: policy.applyTo, priority: policy.priority,
            settings: policy.definition.mapValues(\.value))
    }
}
