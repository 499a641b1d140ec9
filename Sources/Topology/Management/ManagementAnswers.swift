import Foundation
import PushModel

/// The parts of the management API's answers that are read here.
///
/// [HTTP API reference](https://www.rabbitmq.com/docs/http-api-reference)
enum ManagementAnswers {
    /// An object whose contents do not matter.
    struct Nothing: Decodable {}

    /// An element of `/api/exchanges/<vhost>`.
    struct Exchange: Decodable {
        let name: String
        let type: String
        let durable: Bool
        let policy: String?
    }

    /// An element of `/api/queues/<vhost>`.
    struct Queue: Decodable {
        let name: String
        let type: String?
        let durable: Bool
        let arguments: Arguments?
        let policy: String?
        let leader: String?
        let members: [String]?
        let messages: Int?
    }

    /// An element of `/api/bindings/<vhost>`.
    struct Binding: Decodable {
        let source: String
        let destination: String
        let destinationType: String
        let routingKey: String
        let propertiesKey: String

        enum CodingKeys: String, CodingKey {
            case source, destination
            case destinationType = "destination_type"
            case routingKey = "routing_key"
            case propertiesKey = "properties_key"
        }
    }

    /// An element of `/api/policies/<vhost>`.
    struct Policy: Decodable {
        let name: String
        let pattern: String
        let applyTo: String
        let priority: Int
        let definition: [String: Value]

        enum CodingKeys: String, CodingKey {
            case name, pattern, priority, definition
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
    /// Puts the API's four answers together.
    init(
        exchanges: [ManagementAnswers.Exchange], queues: [ManagementAnswers.Queue],
        bindings: [ManagementAnswers.Binding], policies: [ManagementAnswers.Policy]
    ) {
        self.init(
            exchanges: exchanges.map {
                Exchange(name: $0.name, kind: $0.type, isDurable: $0.durable, policy: $0.policy)
            },
            queues: queues.map { queue in
                let arguments = (queue.arguments?.values ?? [:]).filter { $0.key != TopologyQueue.Kind.argument }
                return Queue(
                    name: queue.name, kind: queue.type ?? "classic", isDurable: queue.durable,
                    arguments: arguments.keys.sorted(), policy: queue.policy, leader: queue.leader,
                    members: queue.members ?? [], messages: queue.messages)
            },
            bindings: bindings.map {
                Binding(
                    source: $0.source, destination: $0.destination, isToQueue: $0.destinationType == "queue",
                    routingKey: $0.routingKey, propertiesKey: $0.propertiesKey)
            },
            policies: policies.map { policy in
                Policy(
                    name: policy.name, pattern: policy.pattern, scope: policy.applyTo, priority: policy.priority,
                    settings: policy.definition.mapValues(\.value))
            })
    }
}
