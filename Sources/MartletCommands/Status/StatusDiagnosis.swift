import Text
import Topology

/// Decides what needs a person: turns facts into findings, worst first. Pure.
struct StatusDiagnosis {
    /// The share of its length limit from which a queue counts as nearly full.
    static let nearlyFull = 0.8
    /// The share of its length limit from which a queue counts as full. It is below 1, because RabbitMQ refuses a
    /// message that would not fit.
    static let full = 0.98
    /// How long the waiting jobs may take at the present rate, in seconds, before there is a finding.
    static let longestBacklog = 300.0
    /// The most objects that a finding names. The others are counted.
    static let namedObjects = 3
    /// How many nodes keep a queue where the cluster has enough nodes.
    /// [Initial replication factor](https://www.rabbitmq.com/docs/quorum-queues#replication-factor)
    static let usualMembers = 3

    /// The facts.
    let facts: StatusFacts

    /// What needs a person, worst first; empty where nothing does.
    var findings: [StatusFinding] {
        let found =
            nodes + leaderless + missingObjects + operatorPolicies + fullQueues + tiers + unserved + parkedRoutes
            + hinderedRoutes + workers + pausedRoutes
            + lateJobs + troubledRoutes + deadLetters + unclaimed + unread + underReplicated + versions + forgotten
            + foreignWays + unreadable
        return found.enumerated().sorted { ($0.element.urgency, $0.offset) < ($1.element.urgency, $1.offset) }
            .map(\.element)
    }

    // MARK: The broker

    private var nodes: [StatusFinding] {
        (facts.activity.nodes ?? []).flatMap { node in
            var found: [StatusFinding] = []
            func add(_ isSo: Bool?, _ detail: String, _ command: String) {
                guard isSo == true else { return }
                found.append(
                    StatusFinding(urgency: .now, object: "node \(node.name)", detail: detail, next: command))
            }
            add(
                node.isRunning == false, "it does not run: its queues have a member less, or stand still.",
                "rabbitmqctl cluster_status")
            add(
                node.hasMemoryAlarm, "it is short of memory: nobody can publish, so workers push nothing.",
                "rabbitmq-diagnostics -n \(node.name) memory_breakdown")
            add(
                node.hasDiskAlarm, "its disk is nearly full: nobody can publish, so workers push nothing.",
                "rabbitmq-diagnostics -n \(node.name) status")
            return found
        }
    }

    /// The states of a queue that does not work. Others say that it works, that it is about to, or that RabbitMQ takes
    /// no statistics.
    private static let faults: Set<String> = ["crashed", "down", "minority", "stopped", "terminated"]

    /// How long a node may take until its queues work. Before that it is no alarm that they do not.
    static let settling = Duration.seconds(30)

    /// Whether queues are missing or cannot be used, and a node is so young that they may be there soon.
    var maySettle: Bool {
        let isYoung = facts.activity.nodes?.contains { $0.uptime.map { $0 < Self.settling } ?? true } ?? false
        return isYoung && !(leaderless + missingObjects + unreadable).isEmpty
    }

    private var leaderless: [StatusFinding] {
        let queues = ours.filter { queue in
            // A queue that was made a moment ago has no state yet.
            guard let state = queue.state else { return false }
            return Self.faults.contains(state) || queue.kind == "quorum" && queue.leader == ""
        }
        guard let first = queues.first else { return [] }
        let state = first.state.map { $0 == "running" ? "" : " (\($0))" } ?? ""
        return [
            StatusFinding(
                urgency: .now, object: Self.objects(queues.map(\.name), "queue"),
                detail: "no leader\(state): what is in it waits until most of its members are back.",
                next: "rabbitmq-queues quorum_status --vhost \(host) \(first.name)")
        ]
    }

    /// Queues with fewer members than they could have, by kind: they were made before the other nodes joined.
    ///
    /// A cluster of two nodes is left alone. A queue works while most of its members do, so that a second member would
    /// only stop it more often.
    private var underReplicated: [StatusFinding] {
        guard let nodes = facts.activity.nodes, nodes.count >= Self.usualMembers else { return [] }
        let running = nodes.filter { $0.isRunning == true }.map(\.name).sorted()
        return ["quorum", "stream"].compactMap { kind in
            let queues = ours.filter { queue in
                queue.kind == kind && (1..<Self.usualMembers).contains(queue.members?.count ?? 0)
            }
            guard let first = queues.first, let members = first.members,
                let free = running.first(where: { !members.contains($0) })
            else { return nil }
            return StatusFinding(
                urgency: .soon, object: Self.objects(queues.map(\.name), "queue"),
                detail: "\(Self.count(members.count, "node keeps", "nodes keep")) \(first.name) where "
                    + "\(Self.usualMembers) could: it stands still while "
                    + "\(members.count == 1 ? "that node" : "one of them") is away.",
                next: kind == "stream"
                    ? "rabbitmq-streams add_replica --vhost \(host) \(first.name) \(free)"
                    : "rabbitmq-queues grow \(free) all")
        }
    }

    /// Queues that are full or nearly full, and refuse messages when they are full.
    private var fullQueues: [StatusFinding] {
        ours.compactMap { queue in
            guard queue.settings?["overflow"] == .text("reject-publish") else { return nil }
            func share(_ number: Int?, of key: String) -> Double {
                guard let number, case .integer(let limit) = queue.settings?[key], limit > 0 else { return 0 }
                return Double(number) / Double(limit)
            }
            let share = max(share(queue.bytes, of: "max-length-bytes"), share(queue.ready, of: "max-length"))
            guard share >= Self.nearlyFull else { return nil }
            let isFull = share >= Self.full
            let (consequence, command) = whenFull(queue.name)
            let percent = Int(saturating: share * 100)
            return StatusFinding(
                urgency: isFull ? .now : .soon, object: "queue \(queue.name)",
                detail: "\(percent) % full: \(isFull ? consequence : "once it is full, \(consequence)").",
                next: command)
        }
    }

    private func whenFull(_ queue: String) -> (consequence: String, command: String) {
        if queue.hasPrefix(TopologyNames.resultsQueue) {
            return ("workers push nothing", "martlet results --drain --queue \(queue) > results.txt")
        }
        if queue.hasPrefix(TopologyNames.deadQueue) {
            return ("workers push nothing", "martlet dead list --queue \(queue)")
        }
        if TopologyNames.isHoldingQueue(queue) {
            return (
                "jobs with not_before and jobs of paused campaigns end as exhausted, HeldFull, whoever sent them",
                "raise retry.holding_limit, then: martlet topology apply \(facts.configurationOption)"
            )
        }
        return ("producers are refused", "martlet worker \(facts.configurationOption)")
    }

    /// Tiers that keep their copies for ever.
    private var tiers: [StatusFinding] {
        let keeping = ours.filter { queue in
            guard queue.name.hasPrefix(TopologyNames.retryQueuePrefix), let settings = queue.settings else {
                return false
            }
            return settings["message-ttl"] == nil || settings["dead-letter-exchange"] == nil
        }
        guard !keeping.isEmpty else { return [] }
        let counts = keeping.compactMap(\.ready)
        let waiting = counts.reduce(0, +|)
        let words = "\(Self.count(waiting, "copy", "copies")) \(waiting == 1 ? "waits" : "wait")"
        return [
            StatusFinding(
                urgency: .now, object: Self.objects(keeping.map(\.name), "queue"),
                detail: "its policy is lost, so retries never come back; "
                    + (counts.count == keeping.count ? "\(words)." : "nobody knows how many copies wait."),
                next: "martlet topology apply \(facts.configurationOption)")
        ]
    }

    private var unclaimed: [StatusFinding] {
        guard let count = facts.queue(TopologyNames.unclaimedResultsQueue)?.ready, count > 0 else { return [] }
        return [
            StatusFinding(
                urgency: .soon, object: "queue \(TopologyNames.unclaimedResultsQueue)",
                detail: "\(Self.count(count, "result", "results")) went to no other queue: a binding was missing.",
                next: "martlet topology check \(facts.configurationOption)")
        ]
    }

    private var unread: [StatusFinding] {
        let queues = ours.filter {
            // Queues with a team's copies drop their oldest messages. A team that does not read them harms nobody else.
            $0.name.hasPrefix(TopologyNames.resultsQueue) && $0.settings?["overflow"] == .text("reject-publish")
                && ($0.ready ?? 0) > 0 && $0.consumers == 0 && ($0.deliveryRate ?? 0) == 0
        }
        guard let first = queues.first else { return [] }
        let count = queues.reduce(0) { $0 +| ($1.ready ?? 0) }
        return [
            StatusFinding(
                urgency: .soon, object: Self.objects(queues.map(\.name), "queue"),
                detail: "\(Self.count(count, "result waits", "results wait")) and nobody reads them. Once it is full, "
                    + "workers push nothing.",
                next: "start the program that reads them; if nobody wants them, throw them away with: martlet results "
                    + "--drain --summary --queue \(first.name)")
        ]
    }

    private var deadLetters: [StatusFinding] {
        guard let count = facts.deadLetters.first(where: { $0.queue == TopologyNames.deadQueue })?.count, count > 0
        else { return [] }
        return [
            StatusFinding(
                urgency: .soon, object: "queue \(TopologyNames.deadQueue)",
                detail: "\(Self.count(count, "dead letter waits", "dead letters wait")): pushes that failed for good.",
                next: "martlet dead list")
        ]
    }

    // MARK: Words

    /// The queues of the contract, without those that clients declare for themselves.
    var ours: [BrokerActivity.Queue] {
        facts.activity.queues.filter {
            $0.name.hasPrefix(TopologyNames.queuePrefix) && !TopologyNames.isClients($0.name)
        }
    }

    /// The queues that producers fill, and the queues for jobs that come back from tiers.
    var jobQueues: [BrokerActivity.Queue] { ours.filter { TopologyNames.isJobQueue($0.name) } }

    private var host: String { ShellText.quoted(facts.virtualHost) }

    /// Names up to ``namedObjects`` objects of a kind, and counts the others.
    static func objects(_ names: [String], _ kind: String) -> String {
        guard names.count > 1 else { return "\(kind) \(names.first ?? "")" }
        let more = names.count - namedObjects
        let named = names.prefix(namedObjects).joined(separator: ", ")
        return "\(kind)s \(named)\(more > 0 ? " and \(more) more" : "")"
    }

    /// A number with its noun, in the singular or the plural.
    static func count(_ number: Int, _ one: String, _ several: String) -> String {
        "\(TimeText.count(number)) \(number == 1 ? one : several)"
    }
}
