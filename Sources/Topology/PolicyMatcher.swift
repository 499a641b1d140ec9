/// Finds the policy in effect for a queue as RabbitMQ does: among those that match the queue's name and suit its kind,
/// the one with the highest priority.
///
/// RabbitMQ tells a queue's policies with its statistics: late, or never where these are off. The lists of policies are
/// always complete, so what RabbitMQ reports decides only between policies of the same priority, and where a pattern
/// cannot be read.
/// [Policies](https://www.rabbitmq.com/docs/policies#how-policies-work)
struct PolicyMatcher {
    private struct Candidate {
        let policy: LiveTopology.Policy
        /// Nil where the pattern has a form that is not read here. Such a policy matches where RabbitMQ reports it.
        let pattern: BrokerPattern?
    }

    /// The settings that a policy for streams can have. RabbitMQ does not apply a policy with any other to a stream.
    private static let streamSettings: Set<String> = [
        "initial-cluster-size", "max-age", "max-length-bytes", "queue-leader-locator", "stream-filter-size-bytes",
        "stream-max-segment-size-bytes",
    ]

    /// By falling priority.
    private let candidates: [Candidate]

    /// Prepares to look among some policies.
    ///
    /// - Parameter policies: All policies, or all operator policies.
    init(_ policies: [LiveTopology.Policy]) {
        candidates = policies.filter { $0.scope != "exchanges" }.sorted { $0.priority > $1.priority }.map {
            Candidate(policy: $0, pattern: BrokerPattern($0.pattern))
        }
    }

    /// The policy in effect for a queue.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - reported: The policy that RabbitMQ reports for it; nil where it reports none.
    func policy(of queue: LiveTopology.Queue, reported: String?) -> LiveTopology.Policy? {
        let matching = candidates.filter { Self.matches($0, queue, reported) }.map(\.policy)
        return matching.first { $0.name == reported && $0.priority == matching.first?.priority } ?? matching.first
    }

    /// The policy that would be in effect for a queue instead of another one, once that one is set.
    ///
    /// - Parameters:
    ///   - policy: The policy to be set.
    ///   - queue: The queue.
    func rival(of policy: TopologyPolicy, on queue: LiveTopology.Queue) -> LiveTopology.Policy? {
        candidates.first {
            $0.policy.name != policy.name && $0.policy.priority >= policy.priority
                && Self.matches($0, queue, queue.policy)
        }?.policy
    }

    private static func matches(_ candidate: Candidate, _ queue: LiveTopology.Queue, _ reported: String?) -> Bool {
        guard let pattern = candidate.pattern else { return candidate.policy.name == reported }
        return suits(candidate.policy, queue.kind) && pattern.matches(queue.name)
    }

    private static func suits(_ policy: LiveTopology.Policy, _ kind: String?) -> Bool {
        switch policy.scope {
        case "classic_queues" where kind != "classic", "quorum_queues" where kind != "quorum",
            "streams" where kind != "stream":
            return false
        default: break
        }
        switch kind {
        case "stream": return policy.settings.keys.allSatisfy(streamSettings.contains)
        case "quorum": return !policy.settings.keys.contains { $0.hasPrefix("ha-") || $0 == "queue-mode" }
        default: return true
        }
    }
}
