import Text
import Topology

// Findings about what should be there and is not, and about what others made.
extension StatusDiagnosis {
    /// Exchanges of the configuration that are not there, and queues: those of the configuration or of any topology, and
    /// those of the routes that workers report.
    var missingObjects: [StatusFinding] {
        guard let objects = facts.objects else { return [] }
        let routes = facts.fleet.routes(at: facts.at).map(\.name)
        let served = routes.flatMap { [TopologyNames.jobQueue(route: $0), TopologyNames.returnQueue(route: $0)] }
        let present = Set(facts.activity.queues.map(\.name))
        let missing = Set(objects.queues + served).subtracting(present).sorted()
        return [(objects.missingExchanges, "exchange"), (missing, "queue")].compactMap { names, kind in
            guard !names.isEmpty else { return nil }
            return StatusFinding(
                urgency: .now, object: Self.objects(names, kind),
                detail: "missing: what belongs there is refused, or goes another way.",
                next: "martlet topology apply \(facts.configurationOption)")
        }
    }

    /// Operator policies that change queues of the contract.
    var operatorPolicies: [StatusFinding] {
        (facts.objects?.operatorPolicies ?? []).map { effect in
            StatusFinding(
                urgency: effect.losesMessages ? .now : .soon, object: "operator policy \(effect.policy)",
                detail: "it \(effect.detail).",
                next: "rabbitmqctl clear_operator_policy -p \(ShellText.quoted(facts.virtualHost)) "
                    + "\(ShellText.quoted(effect.policy)), or let its pattern leave out \(TopologyNames.queuePrefix)*")
        }
    }

    /// Exchanges and queues of others that lead into the contract. Without a configuration nobody knows which exchanges
    /// are trusted, so those that may be are left out.
    var foreignWays: [StatusFinding] {
        guard let objects = facts.objects else { return [] }
        let ways = objects.foreignWays.filter { objects.knowsTrusted || $0.exchange == nil }
        guard let first = ways.first else { return [] }
        let more = ways.count > 1 ? ", and \(ways.count - 1) more such" : ""
        return [
            StatusFinding(
                urgency: .soon, object: first.object, detail: "\(first.detail)\(more).",
                next: "martlet topology check \(facts.configurationOption)")
        ]
    }
}
