import Foundation
import Text

/// Writes remedies down as command lines, for both syntaxes of `rabbitmqadmin`: version 2 goes with RabbitMQ 4, version 1
/// came with RabbitMQ 3.
///
/// [rabbitmqadmin v2](https://www.rabbitmq.com/docs/management-cli)
package struct AdminCommands: Sendable {
    /// The variable that the command lines take the password from. Version 2 knows it by itself, too.
    package static let passwordVariable = "RABBITMQADMIN_PASSWORD"

    private enum Version {
        case one, two
    }

    /// A command without where it goes: what to do, and its options by version 2's names.
    private typealias Words = (verb: String, options: [(name: String, value: String)])

    private let place: ManagementPlace
    private let virtualHost: String

    /// Prepares command lines.
    /// - Parameters:
    ///   - place: Where the management API is.
    ///   - virtualHost: The virtual host that they change.
    package init(_ place: ManagementPlace, virtualHost: String) {
        self.place = place
        self.virtualHost = virtualHost
    }

    /// The command line for version 1, ready for a shell.
    /// - Parameter remedies: What to do, one after the other.
    package func one(_ remedies: [TopologyRemedy]) -> String {
        remedies.compactMap { line($0, .one) }.joined(separator: " && ")
    }

    /// The command line for version 2, ready for a shell.
    /// - Parameter remedies: What to do, one after the other.
    /// - Returns: Nil where version 2 cannot do one of them.
    package func two(_ remedies: [TopologyRemedy]) -> String? {
        let lines = remedies.compactMap { line($0, .two) }
        return lines.count == remedies.count ? lines.joined(separator: " && ") : nil
    }

    private func line(_ remedy: TopologyRemedy, _ version: Version) -> String? {
        switch remedy {
        case .apply: return "martlet topology apply"
        case .deleteQueue(let name, let onlyIfEmpty):
            // Neither version of rabbitmqadmin can leave a queue alone that is not empty.
            let condition = onlyIfEmpty ? " --if-empty" : ""
            return "rabbitmqctl delete_queue -p \(Self.quoted(virtualHost)) \(Self.quoted(name))\(condition)"
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

    /// The program and where it connects to.
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
            // It wants to be told whom to trust.
            if place.isEncrypted { words.append("--use-tls --tls-ca-cert-file \"$CA_FILE\"") }
            // Version 1 puts /api behind the prefix, version 2 takes it as it is.
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
            return ("declare binding", ends(of: binding) + [("routing-key", binding.routingKey)])
        case .unbind(let binding):
            let ends = ends(of: TopologyBinding(binding))
            if version == .one { return ("delete binding", ends + [("properties-key", binding.propertiesKey)]) }
            // Version 2 finds a binding by its arguments, which are not known here.
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
        case .deleteQueue, .apply: return nil
        }
    }

    private static func ends(of binding: TopologyBinding) -> [(name: String, value: String)] {
        [("source", binding.source), ("destination", binding.queue), ("destination-type", "queue")]
    }

    private static func nameInVersionOne(_ name: String) -> String {
        name == "apply-to" ? name : name.replacing("-", with: "_")
    }

    private static func quoted(_ text: String) -> String { ShellText.quoted(text) }
}

extension LiveTopology.Binding {
    /// Whether the management API's name for it is made from its key alone: arguments would add to the name.
    fileprivate var hasNoArguments: Bool {
        propertiesKey == "~" ? routingKey.isEmpty : propertiesKey.removingPercentEncoding == routingKey
    }
}
