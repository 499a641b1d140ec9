import APNSSimulator
import EventLoop
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Testing

@testable import martlet

/// The whole way with workers as processes of their own, so that they can be killed: a private RabbitMQ, a local APNs,
/// and the ledgers of producer, APNs and results.
struct KillRing {
    /// What could not be awaited.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The job queue of the ring's one route.
    static let jobQueue = TopologyNames.jobQueue(route: "shop")

    /// Broker, simulator and the workers' configuration.
    let local: LocalRun

    /// Starts a ring, runs a test on it and stops it, whatever came of it; workers end with their last reference.
    /// - Parameters:
    ///   - settings: More lines of the workers' configuration.
    ///   - test: The test.
    static func run(settings: String = "", _ test: (KillRing) async throws -> Void) async throws {
        let local = try await LocalRun.start(
            apps: [LocalRun.App(route: "shop", topic: "com.example.shop")], settings: settings)
        do {
            try await test(KillRing(local: local))
        } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    /// Publishes jobs, raw and enveloped in turn, and waits until the broker confirmed them all.
    /// - Parameters:
    ///   - jobs: The jobs.
    ///   - audit: Learns of each confirmed one.
    func publish(_ jobs: [Job], _ audit: RunAudit) async throws {
        let refused = try await BlockingWork.run("producer") { [local] in
            let client = try local.connect("producer")
            defer { client.close() }
            var producer = RunProducer(client)
            for job in jobs {
                try producer.publish(job.publication, enqueuedAt: WallClock.milliseconds(), audit: audit)
            }
            try producer.finish(audit: audit)
            return producer.refused
        }
        #expect(refused == 0)
    }

    /// What every queue holds at this moment.
    func queueCounts() async throws -> [String: QueueCounts] {
        try await BlockingWork.run("queues") { [local] in try local.broker.queueCounts() }
    }

    /// What the job queue holds at this moment.
    func jobCounts() async throws -> QueueCounts {
        try #require(try await queueCounts()[Self.jobQueue])
    }

    /// Asks the broker until nothing is left in the job queue: a job that was delivered again may still be under way
    /// when its first result is known.
    func awaitEmptyJobQueue() async throws {
        while try await jobCounts().total > 0 { try Task.checkCancellation() }
    }

    /// Asks the broker until no job is held by a worker.
    /// - Returns: How many jobs wait then.
    func awaitHandedBack() async throws -> Int {
        while true {
            try Task.checkCancellation()
            let counts = try await jobCounts()
            if counts.unacknowledged == 0 { return counts.ready }
        }
    }

    /// Waits for the end of a worker.
    /// - Returns: How it ended; nil when it still runs at the limit.
    func ending(of worker: ChildProcess, within limit: Duration) async throws -> ChildProcess.Ending? {
        try await BlockingWork.run("ending") { worker.wait(timeout: limit) }
    }

    /// Ends workers with SIGTERM and expects each to leave in good order.
    func stop(_ workers: [ChildProcess]) async throws {
        for worker in workers { worker.signal(SIGTERM) }
        for worker in workers {
            #expect(try await ending(of: worker, within: .seconds(45)) == .exited(0))
        }
    }

    /// Reads whatever is left of a watch, ends it, and adds what APNs received.
    func account(of watch: AuditWatch) async throws -> RunAudit.State {
        let audit = watch.audit
        return try await BlockingWork.run("audit") { [local] in
            audit.stop()
            let accepted = local.simulator.ledger.records().filter { $0.status == 200 }
            audit.record { ledger in
                for record in accepted { ledger.accepted(apnsID: record.id.description) }
            }
            return audit.current
        }
    }

    /// Compares the ledgers once everything is settled, and expects nothing to be lost, unexplained or left over.
    /// - Parameters:
    ///   - watch: What was reported so far; it reads whatever is left and ends.
    ///   - mostExtra: How many pushes may have been made more than once.
    ///   - deaths: How many workers died: one job may be pushed once more for each, and have one result all the same.
    /// - Returns: What was found.
    @discardableResult
    func expectClean(_ watch: AuditWatch, mostExtra: Int, deaths: Int = 1) async throws -> RunLedger.Verdict {
        let state = try await account(of: watch)
        let verdict = state.ledger.verdict()
        #expect(state.failure == nil)
        #expect(verdict.lost.count == 0)
        #expect(verdict.unexplainedDuplicates.count == 0)
        #expect(verdict.unexpected.count == 0)
        #expect(verdict.ambiguous.count == 0)
        #expect(verdict.unreceived.count == 0)
        #expect(verdict.unreported.count == 0)
        #expect(verdict.isClean)
        #expect(verdict.explainedDuplicates <= mostExtra)
        #expect(verdict.explainedDuplicates <= state.redelivered * deaths)
        #expect(state.outcomes.allSatisfy { $0.key.outcome == Outcome.accepted.rawValue }, "all jobs were good")
        #expect(local.simulator.ledger.unlisted == 0)
        let left = try await queueCounts().filter { $0.value.total > 0 }
        #expect(left.isEmpty, "nothing is left in any queue")
        return verdict
    }
}

extension KillRing {
    /// A job of the ring.
    struct Job: Sendable {
        /// Its id.
        let id = JobIdentifier.new()
        /// Whether the body is the payload alone, or an envelope.
        var isRaw: Bool
        /// The first digits of its device token, by which the simulator chooses its verdict.
        var tokenPrefix = "1"

        /// The job as a producer publishes it.
        var publication: RunProducer.Job {
            let digits = id.filter { $0 != "-" }
            let token = String((tokenPrefix + digits + digits).prefix(64))
            let payload = #"{"aps":{"alert":{"title":"Shop","body":"Your order \#(digits) is on its way"}}}"#
            let envelope = #"{"id":"\#(id)","device_token":"\#(token)","payload":\#(payload)}"#
            return RunProducer.Job(
                id: id, topic: "com.example.shop", body: isRaw ? payload : envelope, rawToken: isRaw ? token : nil)
        }
    }

    /// New jobs, raw and enveloped in turn.
    static func jobs(_ count: Int, tokenPrefix: String = "1") -> [Job] {
        (0..<count).map { Job(isRaw: $0.isMultiple(of: 2), tokenPrefix: tokenPrefix) }
    }
}

/// An audit whose progress can be awaited.
struct AuditWatch: Sendable {
    /// What is read.
    let audit: RunAudit
    private let changes: AsyncStream<Void>

    /// Starts reading.
    init(_ ring: KillRing, reading source: RunAudit.Source = .queues) async throws {
        let (changes, feed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        audit = try await BlockingWork.run("audit") { [uri = ring.local.broker.uri] in
            try RunAudit(uri, reading: source) { feed.yield() }
        }
    }

    /// Waits until what was read is as wanted.
    /// - Parameter condition: Looked at after every batch of results.
    func until(_ condition: (borrowing RunAudit.State) -> Bool) async throws {
        if audit.look(condition) { return }
        for await _ in changes {
            if let failure = audit.look({ $0.failure }) { throw KillRing.Failure(description: failure) }
            if audit.look(condition) { return }
        }
        throw KillRing.Failure(
            description: audit.look { "gave up with \($0.ledger.open) of \($0.ledger.promises) notifications open" })
    }

    /// Waits until this many notifications are final.
    func until(finals: Int) async throws { try await until { $0.ledger.finals >= finals } }

    /// Waits until everything promised is final.
    func untilComplete() async throws { try await until { $0.ledger.open == 0 } }
}
