import APNSSimulator
import BrokerClient
import EventLoop
package import LocalStack
import PushModel
import RabbitMQ
import Text
import Topology

/// What the three ledgers of a run say once everything is settled. The first has the jobs that the broker confirmed to
/// producers, the second the pushes that APNs received, and the third the results, dead letters and queues.
package struct RunComparison: Sendable {
    /// What the comparison of the ledgers found.
    package var balance: RunLedger.Balance
    /// How many notifications were promised.
    package var promises: Int
    /// Results that belong to a job delivered before.
    package var redelivered: Int
    /// How many results there were of each kind.
    package var outcomes: [ResultRecord.Kind: Int]
    /// Why reading the results ended early.
    package var failure: String?
    /// Pushes that APNs saw, but had no room to list.
    package var unlisted: Int
    /// What is left in queues.
    package var leftovers: [String: QueueCounts]

    /// Everything that is wrong, in sentences; empty if nothing is.
    ///
    /// - Parameters:
    ///   - mostExtra: How many pushes may have been made more than once.
    ///   - mostRepeated: How many results and dead letters may have been written twice; nil for `mostExtra`.
    ///   - deaths: How often workers died. A job may be pushed once more for each death, and still have one result.
    ///   - allowed: The outcomes that notifications may have.
    ///   - letters: How many dead letters the broker must have written.
    ///   - queues: The queues that may hold something.
    package func problems(
        mostExtra: Int, mostRepeated: Int? = nil, deaths: Int = 1,
        outcomes allowed: Set<String> = [Outcome.accepted.rawValue], brokerDeadLetters letters: Int = 0,
        leftovers queues: Set<String> = []
    ) -> [String] {
        var problems: [String] = []
        func count(_ count: Int, _ what: String) {
            if count > 0 { problems.append("\(count) \(what)") }
        }
        if let failure { problems.append("the results could not be read: \(failure)") }
        for finding in balance.findings { count(finding.names.count, finding.title) }
        count(unlisted, "pushes that the ledger of APNs has no room for")
        if balance.explainedDuplicates > mostExtra {
            problems.append("\(balance.explainedDuplicates) pushed twice, at most \(mostExtra) were unacknowledged")
        }
        let mostRepeated = mostRepeated ?? mostExtra
        if balance.repeatedReports > mostRepeated {
            problems.append("\(balance.repeatedReports) reported twice, at most \(mostRepeated) were unacknowledged")
        }
        if balance.brokerDeadLetters != letters {
            problems.append("\(balance.brokerDeadLetters) dead letters of the broker, not \(letters)")
        }
        let byDelivery = balance.explainedDuplicates - balance.repeatedUnanswered
        if byDelivery > redelivered * max(1, deaths) {
            problems.append("\(byDelivery) pushed twice, \(redelivered) delivered again")
        }
        let strange = outcomes.filter { !allowed.contains($0.key.outcome) }.map { kind, count in
            "\(count) \(kind.outcome)\(kind.reason.map { " (\($0))" } ?? "")"
        }
        if !strange.isEmpty {
            problems.append("outcomes that no job should have: \(strange.sorted().joined(separator: ", "))")
        }
        for (queue, counts) in leftovers.sorted(by: { $0.key < $1.key }) where !queues.contains(queue) {
            problems.append("\(queue) still holds \(counts.total)")
        }
        return problems
    }
}

extension LocalRun {
    /// The queues of workers' reports and of operators' commands. They are streams, which keep all messages and hold no
    /// jobs.
    private static let streams: Set<String> = [TopologyNames.fleetQueue, TopologyNames.controlQueue]

    /// Publishes jobs and waits until the broker confirmed them all.
    ///
    /// - Parameters:
    ///   - jobs: The jobs.
    ///   - audit: Learns of each confirmed job, and of each job whose confirm never came.
    /// - Returns: How many jobs the broker refused.
    /// - Throws: `AMQPError` when the broker cannot be reached or leaves meanwhile.
    package func publish(_ jobs: [RunJob], _ audit: RunAudit) async throws -> Int {
        try await BlockingWork.run("producer") { [self] in
            let client = try connect("producer")
            defer { client.close() }
            var producer = RunProducer(client)
            do {
                for job in jobs {
                    try producer.publish(job.publication, enqueuedAt: WallClock.milliseconds(), audit: audit)
                }
                try producer.finish(audit: audit)
            } catch {
                producer.abandon(audit: audit)
                throw error
            }
            return producer.refused
        }
    }

    /// What every queue holds at this moment.
    package func queueCounts() async throws -> [String: QueueCounts] {
        try await BlockingWork.run("queues") { [broker] in try broker.queueCounts() }
    }

    /// What the job queues of all apps hold at this moment, together. The queues for `high` jobs do not count.
    ///
    /// - Throws: `LocalStackError` where the broker does not list one of them.
    package func jobCounts() async throws -> QueueCounts {
        let counts = try await queueCounts()
        return try apps.reduce(into: QueueCounts(ready: 0, unacknowledged: 0)) { sum, app in
            let name = TopologyNames.jobQueue(route: app.route)
            guard let queue = counts[name] else {
                throw LocalStackError(.programFailed, "the broker does not list the queue \(name)")
            }
            sum.ready += queue.ready
            sum.unacknowledged += queue.unacknowledged
        }
    }

    /// Compares the ledgers once everything is settled.
    ///
    /// - Parameter audit: The reports so far. It reads the rest of its queues and stops.
    package func compare(_ audit: RunAudit) async throws -> RunComparison {
        let state = try await BlockingWork.run("audit") { [simulator] in
            audit.stop()
            let ignored = audit.look { $0.ignoredTopic }
            let accepted = simulator.ledger.records().filter { $0.status == 200 && $0.topic != ignored }
            audit.record { ledger in
                for record in accepted {
                    ledger.accepted(
                        apnsID: record.id.description,
                        content: RunLedger.Content(token: record.token, payloadHash: record.payloadHash))
                }
            }
            return audit.current
        }
        return RunComparison(
            balance: state.ledger.balance(), promises: state.ledger.promises, redelivered: state.redelivered,
            outcomes: state.outcomes, failure: state.failure,
            unlisted: simulator.ledger.unlisted,
            leftovers: try await queueCounts().filter { $0.value.total > 0 && !Self.streams.contains($0.key) })
    }
}
