/// The definitions file, which `rabbitmqctl import_definitions`, `load_definitions` and the management API read.
///
/// [Definition export and import](https://www.rabbitmq.com/docs/definitions)
extension BrokerTopology {
    /// Writes the definitions as JSON: always the same bytes for the same topology, one object per line.
    ///
    /// - Parameter users: Users to add, each with the permissions of its role; importing sets their passwords anew.
    /// - Returns: The text, ending with a line end.
    package func definitions(users: [BrokerUser] = []) -> String {
        var sections: [(String, [String])] = []
        if !users.isEmpty {
            sections.append(("users", users.map(Self.json(user:))))
        }
        sections.append(("vhosts", [Self.object([("name", Self.quoted(virtualHost))])]))
        if !users.isEmpty {
            sections.append(("permissions", users.map(json(permissionsOf:))))
        }
        sections.append(("policies", policies.map(json(policy:))))
        sections.append(("exchanges", exchanges.map(json(exchange:))))
        sections.append(("queues", queues.map(json(queue:))))
        sections.append(("bindings", bindings.map(json(binding:))))
        return Self.text(sections)
    }

    /// The body with which the management API takes an exchange.
    package func body(of exchange: TopologyExchange) -> String { json(exchange: exchange) }

    /// The body with which the management API takes a queue.
    package func body(of queue: TopologyQueue) -> String { json(queue: queue) }

    /// The body with which the management API takes a binding.
    package func body(of binding: TopologyBinding) -> String { json(binding: binding) }

    /// The body with which the management API takes a policy.
    package func body(of policy: TopologyPolicy) -> String { json(policy: policy) }

    /// A policy's settings as a JSON object, as `rabbitmqctl set_policy` takes them.
    static func json(settings: [TopologyPolicy.Setting]) -> String {
        object(settings.map { ($0.key, json(value: $0.value)) })
    }

    private func json(policy: TopologyPolicy) -> String {
        Self.object([
            ("vhost", Self.quoted(virtualHost)), ("name", Self.quoted(policy.name)),
            ("pattern", Self.quoted(policy.pattern)), ("apply-to", Self.quoted(policy.scope.rawValue)),
            ("priority", "\(policy.priority)"), ("definition", Self.json(settings: policy.settings)),
        ])
    }

    private func json(exchange: TopologyExchange) -> String {
        Self.object([
            ("vhost", Self.quoted(virtualHost)), ("name", Self.quoted(exchange.name)),
            ("type", Self.quoted(exchange.kind.rawValue)), ("durable", "true"), ("auto_delete", "false"),
            ("internal", "false"), ("arguments", "{}"),
        ])
    }

    private func json(queue: TopologyQueue) -> String {
        Self.object([
            ("vhost", Self.quoted(virtualHost)), ("name", Self.quoted(queue.name)), ("durable", "true"),
            ("auto_delete", "false"), ("arguments", Self.object([("x-queue-type", Self.quoted(queue.kind.rawValue))])),
        ])
    }

    private func json(binding: TopologyBinding) -> String {
        Self.object([
            ("source", Self.quoted(binding.source)), ("vhost", Self.quoted(virtualHost)),
            ("destination", Self.quoted(binding.queue)), ("destination_type", Self.quoted("queue")),
            ("routing_key", Self.quoted(binding.routingKey)), ("arguments", "{}"),
        ])
    }

    private static func json(user: BrokerUser) -> String {
        object([
            ("name", quoted(user.name)), ("password_hash", quoted(user.passwordHash)),
            ("hashing_algorithm", quoted("rabbit_password_hashing_sha256")), ("tags", quoted(user.role.tag ?? "")),
        ])
    }

    private func json(permissionsOf user: BrokerUser) -> String {
        let permissions = user.role.permissions(user: user.name)
        return Self.object([
            ("user", Self.quoted(user.name)), ("vhost", Self.quoted(virtualHost)),
            ("configure", Self.quoted(permissions.configure)), ("write", Self.quoted(permissions.write)),
            ("read", Self.quoted(permissions.read)),
        ])
    }

    private static func json(value: TopologyValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .text(let text): quoted(text)
        }
    }

    private static func text(_ sections: [(String, [String])]) -> String {
        let parts = sections.map { name, objects in
            objects.isEmpty ? "  \"\(name)\": []" : "  \"\(name)\": [\n    \(objects.joined(separator: ",\n    "))\n  ]"
        }
        return "{\n\(parts.joined(separator: ",\n"))\n}\n"
    }

    private static func object(_ members: [(String, String)]) -> String {
        "{ \(members.map { "\(quoted($0.0)): \($0.1)" }.joined(separator: ", ")) }"
    }

    /// A JSON string; names here are short and rarely need an escape.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
