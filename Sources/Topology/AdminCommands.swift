import Foundation
import Text

/// Writes remedies down as command lines, for both syntaxes of `rabbitmqadmin`. Version 2 goes with RabbitMQ 4; version
/// 1 came with RabbitMQ 3.
///
/// [rabbitmqadmin v2](https://www.rabbitmq.com/docs/management-cli)
package struct AdminCommands: Sendable {
    /// The variable from which the command lines take the password. Version 2 also reads the variable by itself.
    package static let passwordVariable = "RABBITMQADMIN_PASSWORD"

    private enum Version {
        case one, two
    }

    /// A command without its connection: the verb, and the options by the names of version 2.
    private typealias Words = (verb: String, options: [(name: String, value: String)])

    private let place: ManagementPlace
    private let virtualHost: String

    /// Prepares command lines.
    ///
    /// - Parameters:
    ///   - place: Where the management API is.
    ///   - virtualHost: The virtual host that they change.
    package init(_ place: ManagementPlace, virtualHost: String) {
        self.place = place
        self.virtualHost = virtualHost
    }

    /// The command line for version 1, ready for a shell.
    ///
    /// - Parameter remedies: The remedies, in their order.
    package func one(_ remedies: [TopologyRemedy]) -> String {
        remedies.compactMap { line($0, .one) }.joined(separator: " && ")
    }

    /// The command line for version 2, ready for a shell.
    ///
    /// - Parameter remedies: The remedies, in their order.
    /// - Returns: The line; nil if version 2 cannot do one of the remedies.
    package func two(_ remedies: [TopologyRemedy]) -> String? {
        let lines = remedies.compactMap { line($0, .two) }
        return lines.count == remedies.count ? lines.joined(separator: " && ") : nil
    }

    private func line(_ remedy: TopologyRemedy, _ version: Version) -> String? {
        switch remedy {
        case .apply: return "martlet topology apply"
        case .deleteQueue(let name, let onlyIfEmpty):
            // Neither version of `rabbitmqadmin` can delete a queue only if it is empty.
            let condition = onlyIfEmpty ? " --if-empty" : ""
            return "rabbitmqctl delete_queue -p \(Self.quoted(virtualHost)) \(Self.quoted(name))\(condition)"
        case .clearOperatorPolicy(let name):
            return "rabbitmqctl clear_operator_policy -p \(Self.quoted(virtualHost)) \(Self.quoted(name))"
        default:
            guard let words = Self.words(of: remedy, version) else { return nil }
            let options = words.options.map { name, value in
                switch version {
                case .one: "\(Self.nameInVersionOne(name))=\(Self.quoted(value))"
                case .two: "--\(name) \(Self.quoted(value))"
                }
            }
            return ([start(version), words.verb] + options).joined(separator: " ")
        }
    }

    /// The program, and the options of its connection.
    private func start(_ version: Version) -> String {
        let (user, host) = (Self.quoted(place.user), Self.quoted(virtualHost))
        let password = "\"$\(Self.passwordVariable)\""
        var words: [String]
        switch version {
        case .one:
            words = [
                "--host=\(Self.quoted(place.host))", "--port=\(place.port)", "--username=\(user)",
                "--password=\(password)",
            ]
            if place.isEncrypted { words.append("--ssl") }
            if !place.prefix.isEmpty { words.append("--path-prefix=\(Self.quoted(place.prefix))") }
            words.append("--vhost=\(host)")
        case .two:
            let name = place.host.contains(":") ? "[\(place.host)]" : place.host
            words = [
                "--host \(Self.quoted(name))", "--port \(place.port)", "--username \(user)", "--password \(password)",
            ]
            // Version 2 needs the certificates of the authorities that it is to trust.
            if place.isEncrypted { words.append("--use-tls --tls-ca-cert-file \"$CA_FILE\"") }
            // Version 1 adds /api to the prefix. Version 2 takes the prefix as it is.
            if !place.prefix.isEmpty { words.append("--path-prefix \(Self.quoted("\(place.prefix)/api"))") }
            words.append("--vhost \(host)")
        }
        return (["rabbitmqadmin"] + words).joined(separator: " ")
    }

    private static func words(of remedy: TopologyRemedy, _ version: Version) -> Words? {
        switch remedy {
        case .declareExchange(let name, let kind):
            return ("declare exchange", [("name", name), ("type", kind.rawValue), ("durable", "true")])
        case .deleteExchange(let name): return ("delete exchange", [("name", name)])
        case .declareQueue(let name, let kind):
            let type = version == .one ? "queue_type" : "type"
            return ("declare queue", [("name", name), (type, kind.rawValue), ("durable", "true")])
        case .bind(let binding):
            return ("declare binding", ends(of: binding, "queue") + [("routing-key", binding.routingKey)])
        case .unbind(let binding):
            let ends = ends(of: TopologyBinding(binding), binding.isToQueue ? "queue" : "exchange")
            if version == .one { return ("delete binding", ends + [("properties-key", binding.propertiesKey)]) }
            // Version 2 finds a binding by its arguments. These are not known here.
            guard binding.hasNoArguments else { return nil }
            return ("delete binding", ends + [("routing-key", binding.routingKey)])
        case .set(let policy):
            let settings = BrokerTopology.json(settings: policy.settings)
            return (
                "declare policy",
                [
                    ("name", policy.name), ("pattern", policy.pattern), ("apply-to", policy.scope.rawValue),
                    ("priority", "\(policy.priority)"), ("definition", settings),
                ]
            )
        case .clear(let policy): return ("delete policy", [("name", policy)])
        case .deleteQueue, .clearOperatorPolicy, .apply: return nil
        }
    }

    private static func ends(of binding: TopologyBinding, _ kind: String) -> [(name: String, value: String)] {
        [("source", binding.source), ("destination", binding.queue), ("destination-type", kind)]
    }

    private static func nameInVersionOne(_ name: String) -> String {
        name == "apply-to" ? name : name.replacing("-", with: "_")
    }

    private static func quoted(_ text: String) -> String { ShellText.quoted(text) }
}

extension LiveTopology.Binding {
    /// Whether the management API made the binding's name from its key alone. Arguments would add to the name.
    fileprivate var hasNoArguments: Bool {
        guard propertiesKey != "~" else { return routingKey.isEmpty }
        // A plus stands for a space there.
        return propertiesKey.replacing("+", with: " ").removingPercentEncoding == routingKey
    }
}
