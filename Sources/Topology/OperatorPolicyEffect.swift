/// What an operator policy changes for queues of the contract. An operator policy is the broker's administrator's. It
/// adds to the policy of a queue, and of two numbers the smaller one counts.
///
/// [Operator policies](https://www.rabbitmq.com/docs/policies#operator-policies)
package struct OperatorPolicyEffect: Sendable, Equatable {
    /// A setting that is in effect because of the operator policy.
    package struct Change: Sendable, Equatable {
        /// The policy key.
        package let key: String
        /// The value in effect.
        package let value: TopologyValue

        /// Makes a change from its parts.
        package init(key: String, value: TopologyValue) {
            self.key = key
            self.value = value
        }
    }

    /// The operator policy's name.
    package let policy: String
    /// The queues of the contract that it changes, sorted.
    package let queues: [String]
    /// What it changes for at least one of them, sorted by key.
    package let changes: [Change]

    /// Makes an effect from its parts.
    package init(policy: String, queues: [String], changes: [Change]) {
        self.policy = policy
        self.queues = queues
        self.changes = changes
    }

    /// Whether messages are lost by it.
    package var losesMessages: Bool { changes.contains { ["expires", "message-ttl"].contains($0.key) } }

    /// What it sets, on which queues, and what that breaks.
    package var detail: String {
        let more = queues.count - 2
        let places = queues.prefix(2).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        let parts = changes.map { "\($0.key) \($0.value.words)\(Self.consequence(of: $0.key))" }
        return "sets on \(places): \(parts.joined(separator: "; "))"
    }

    private static func consequence(of key: String) -> String {
        switch key {
        case "message-ttl":
            ", so that jobs expire that have no such limit, retries come back early, and results and letters vanish"
        case "expires": ", so that queues without a reader are deleted with all that is in them"
        case "max-length", "max-length-bytes": ", so that queues refuse messages, or drop their oldest, early"
        case "delivery-limit": ", so that jobs which workers give back end as dead letters early"
        default: ""
        }
    }
}

extension LiveTopology {
    /// What operator policies change for the queues of the contract, by the policies' names.
    package var operatorPolicyEffects: [OperatorPolicyEffect] {
        guard !operatorPolicies.isEmpty else { return [] }
        let (over, under) = (PolicyMatcher(operatorPolicies), PolicyMatcher(policies))
        var found: [String: (queues: [String], changes: [String: TopologyValue])] = [:]
        for queue in queues where TopologyNames.isOurs(queue: queue.name) {
            guard let policy = over.policy(of: queue, reported: queue.operatorPolicy) else { continue }
            let usual = under.policy(of: queue, reported: queue.policy)?.settings ?? [:]
            let changes = policy.settings.filter { Self.isChange($0.value, of: usual[$0.key]) }
            guard !changes.isEmpty else { continue }
            found[policy.name, default: ([], [:])].queues.append(queue.name)
            found[policy.name]?.changes.merge(changes) { first, _ in first }
        }
        return found.sorted { $0.key < $1.key }.map { name, effect in
            OperatorPolicyEffect(
                policy: name, queues: effect.queues.sorted(),
                changes: effect.changes.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: $0.value) })
        }
    }

    private static func isChange(_ value: TopologyValue, of usual: TopologyValue?) -> Bool {
        guard let usual else { return true }
        if case .integer(let limit) = value, case .integer(let number) = usual { return limit < number }
        return value != usual
    }
}
