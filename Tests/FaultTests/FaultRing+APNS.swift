import APNSSimulator
import EventLoop
import LocalStack
import PushModel
import Rig

// What faults of APNs need to know and to do.
extension FaultRing {
    /// Lets APNs behave by these rules from now on; none for its usual behaviour.
    func use(_ rules: Scenario.Rule...) { simulator.control.use(Scenario(rules: rules)) }

    /// Publishes jobs that the scenario's rules are for, spread over the apps, and waits until the broker has them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - prefix: The first digits of their device tokens, which rules and verdicts go by.
    ///   - deadline: Until when they may be sent, in milliseconds since 1970.
    func publish(_ count: Int, prefix: String, deadline: Int64? = nil) async throws {
        var jobs = RunJob.several(count, tokenPrefix: prefix)
        for index in jobs.indices {
            jobs[index].topic = setup.apps[index % setup.apps.count].topic
            jobs[index].deadline = deadline
        }
        try await publish(jobs)
    }

    /// How many pushes for an app APNs has accepted.
    func accepted(_ topic: String) -> Int {
        simulator.ledger.records().count { $0.topic == topic && $0.status == 200 }
    }

    /// How many pushes for an app APNs has seen.
    func pushes(_ topic: String) -> Int { simulator.ledger.records().count { $0.topic == topic } }

    /// How many milliseconds passed between the first two pushes to each device that got several.
    ///
    /// - Parameter prefix: The first digits of their tokens.
    func pauses(_ prefix: String) -> [Int64] {
        let records = simulator.ledger.records().filter { $0.token.hasPrefix(prefix) }
        return Dictionary(grouping: records, by: \.token).values.compactMap { pushes in
            pushes.count > 1 ? pushes[1].time - pushes[0].time : nil
        }
    }

    /// How many pushes APNs has answered, or ended, in one way, but for the neighbour's.
    ///
    /// - Parameter label: The reason, or what happened instead of an answer; empty for 200.
    func answered(_ label: String) -> Int {
        answers.reduce(0) { $0 + ($1.label == label ? $1.count : 0) }
    }

    /// Waits until no job is left, neither in its queue nor in one for retries.
    func untilDone() async throws {
        // A job on its way from a retry queue to its own is in neither for a moment. Two looks do not both miss it.
        repeat {
            try await until("everything is done") { [self] in try holdsNoJob }
        } while try await !BlockingWork.run("queue counts") { [self] in try holdsNoJob }
    }

    /// Whether no job is in any queue; blocks for a moment.
    private var holdsNoJob: Bool {
        get throws {
            try broker.queueCounts().allSatisfy { name, counts in
                counts.total == 0 || !(name.hasPrefix("apns.q.jobs.") || name.hasPrefix("apns.q.retry."))
            }
        }
    }

    /// How often the first worker has logged that APNs cannot be reached.
    var vainConnections: Int {
        get throws { try worker.log.split(separator: "\n").count { $0.contains("APNs cannot be reached") } }
    }

    /// Waits until a metric of the first worker fulfils a condition.
    ///
    /// - Parameters:
    ///   - name: The metric's name.
    ///   - labels: Text that must be among its labels.
    ///   - condition: What its sum has to be.
    func untilMetric(
        _ name: String, _ labels: String = "", _ condition: @escaping @Sendable (Double) -> Bool
    ) async throws {
        let worker = try worker
        do {
            try await until("\(name){\(labels)} is as wanted") { condition(try worker.metric(name, labels)) }
        } catch {
            throw FaultFailure("\(error): it is \(try await metric(name, labels))")
        }
    }

    /// What a metric of the first worker says now.
    func metric(_ name: String, _ labels: String = "") async throws -> Double {
        let worker = try worker
        return try await BlockingWork.run("metrics") { try worker.metric(name, labels) }
    }

    /// Reads all results so far, and tells how many notifications had which outcome.
    func outcomes() async throws -> [String: Int] {
        // Reading ends with silence.
        try await judgeNeighbour()
        let uri = broker.uri
        try await BlockingWork.run("outcomes") { [audit] in try audit.read(uri, from: .queues) }
        // On a busy machine the first result may take longer than the silence that ends reading.
        try await until("all results are read") { [audit] in
            audit.look { $0.ledger.open == 0 || $0.failure != nil }
        }
        return try await BlockingWork.run("outcomes") { [audit] in
            audit.stop()
            return audit.look { state in
                state.outcomes.reduce(into: [:]) { $0[$1.key.outcome, default: 0] += $1.value }
            }
        }
    }
}

extension Scenario.Rule {
    /// A rule for an app.
    ///
    /// - Parameters:
    ///   - topic: The app.
    ///   - verdict: What becomes of its pushes.
    static func topic(_ topic: String, _ verdict: Verdict) -> Scenario.Rule {
        Scenario.Rule(topic: topic, sequence: VerdictSequence(verdict))
    }

    /// A rule for the first push to each of some devices; the next one is accepted.
    ///
    /// - Parameters:
    ///   - prefix: The first digits of their tokens.
    ///   - verdict: What becomes of it.
    static func once(_ prefix: String, _ verdict: Verdict) -> Scenario.Rule {
        Scenario.Rule(tokenPrefix: prefix, sequence: VerdictSequence(verdict, count: 1))
    }
}
