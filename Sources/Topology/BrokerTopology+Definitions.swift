import Text

/// The definitions file, which `rabbitmqctl import_definitions`, `load_definitions` and the management API read.
///
/// [Definition export and import](https://www.rabbitmq.com/docs/definitions)
extension BrokerTopology {
    /// Writes the definitions as JSON: always the same bytes for the same topology, one object per line.
    ///
    /// - Parameter users: Users to add, each with the permissions of its role; importing sets their passwords again.
    /// - Returns: The text, ending with a line end.
    package func definitions(users: [BrokerUser] = []) -> String {
        var sections: [(String, [String])] = []
        if !users.isEmpty {
            sections.append(("users", users.map(Self.json(user:))))
        }
        sections.append(("vhosts", [Self.object([("name", JSONEscaping.quoted(virtualHost))])]))
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
            ("vhost", JSONEscaping.quoted(virtualHost)), ("name", JSONEscaping.quoted(policy.name)),
            ("pattern", JSONEscaping.quoted(policy.pattern)), ("apply-to", JSONEscaping.quoted(policy.scope.rawValue)),
            ("priority", "\(policy.priority)"), ("definition", Self.json(settings: policy.settings)),
        ])
    }

    private func json(exchange: TopologyExchange) -> String {
        Self.object([
            ("vhost", JSONEscaping.quoted(virtualHost)), ("name", JSONEscaping.quoted(exchange.name)),
            ("type", JSONEscaping.quoted(exchange.kind.rawValue)), ("durable", "true"), ("auto_delete", "false"),
            ("internal", "false"), ("arguments", "{}"),
        ])
    }

    private func json(queue: TopologyQueue) -> String {
        Self.object([
            ("vhost", JSONEscaping.quoted(virtualHost)), ("name", JSONEscaping.quoted(queue.name)), ("durable", "true"),
            ("auto_delete", "false"),
            ("arguments", Self.object([(TopologyQueue.Kind.argument, JSONEscaping.quoted(queue.kind.rawValue))])),
        ])
    }

    private func json(binding: TopologyBinding) -> String {
        Self.object([
            ("source", JSONEscaping.quoted(binding.source)), ("vhost", JSONEscaping.quoted(virtualHost)),
            ("destination", JSONEscaping.quoted(binding.queue)), ("destination_type", JSONEscaping.quoted("queue")),
            ("routing_key", JSONEscaping.quoted(binding.routingKey)), ("arguments", "{}"),
        ])
    }

    private static func json(user: BrokerUser) -> String {
        object([
            ("name", JSONEscaping.quoted(user.name)), ("password_hash", JSONEscaping.quoted(user.passwordHash)),
            ("hashing_algorithm", JSONEscaping.quoted("rabbit_password_hashing_sha256")),
            ("tags", JSONEscaping.quoted(user.role.tag ?? "")),
        ])
    }

    private func json(permissionsOf user: BrokerUser) -> String {
        let permissions = user.role.permissions(user: user.name)
        return Self.object([
            ("user", JSONEscaping.quoted(user.name)), ("vhost", JSONEscaping.quoted(virtualHost)),
            ("configure", JSONEscaping.quoted(permissions.configure)),
            ("write", JSONEscaping.quoted(permissions.write)),
            ("read", JSONEscaping.quoted(permissions.read)),
        ])
    }

    private static func json(value: TopologyValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .text(let text): JSONEscaping.quoted(text)
        }
    }

    /// Writes one object per line, for people: they read the file before they import it, and compare it with the last
    /// one.
    private static func text(_ sections: [(String, [String])]) -> String {
        let parts = sections.map { name, objects in
            objects.isEmpty ? "  \"\(name)\": []" : "  \"\(name)\": [\n    \(objects.joined(separator: ",\n    "))\n  ]"
        }
        return "{\n\(parts.joined(separator: ",\n"))\n}\n"
    }

    private static func object(_ members: [(String, String)]) -> String {
        "{ \(members.map { "\(JSONEscaping.quoted($0.0)): \($0.1)" }.joined(separator: ", ")) }"
    }
}
