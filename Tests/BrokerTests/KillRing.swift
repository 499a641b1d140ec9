import APNSSimulator
import EventLoop
import Foundation
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Rig
import TestSupport
import Testing
import Topology

/// The whole way with workers as processes of their own, so that they can be killed: a private RabbitMQ, a local APNs,
/// and the ledgers of producer, APNs and results.
struct KillRing {
    /// Broker, simulator and the workers' configuration.
    let local: LocalRun
    /// Every kind of result and dead letter that is read has to obey the contract's schemas.
    private let contract = ContractCheck(takesSamples: true)

    /// A ring that runs.
    ///
    /// - Parameter local: Broker, simulator and the workers' configuration.
    init(local: LocalRun) { self.local = local }

    /// Starts a ring, runs a test on it and stops it, whatever came of it; workers end with their last reference.
    ///
    /// - Parameters:
    ///   - apps: The routes.
    ///   - settings: More lines of the workers' configuration.
    ///   - broker: What the broker shall offer.
    ///   - test: The test.
    static func run(
        apps: [LocalRun.App] = [LocalRun.App(route: "shop", topic: "com.example.shop")], settings: String = "",
        broker: PrivateBrokerOptions = PrivateBrokerOptions(), _ test: (KillRing) async throws -> Void
    ) async throws {
        let local = try await LocalRun.start(apps: apps, settings: settings, broker: broker)
        do {
            let ring = KillRing(local: local)
            try await test(ring)
            #expect(try ring.contract.problems() == [])
        } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    /// Reads all that is reported, and holds it against the contract.
    ///
    /// - Parameter source: Where to read.
    func watch(reading source: RunAudit.Source = .queues) async throws -> AuditWatch {
        try await AuditWatch(local, reading: source) { [contract] in contract.note($0) }
    }

    /// Publishes jobs and waits until the broker confirmed them all.
    ///
    /// - Parameters:
    ///   - jobs: The jobs.
    ///   - audit: Learns of each confirmed one.
    func publish(_ jobs: [RunJob], _ audit: RunAudit) async throws {
        #expect(try await local.publish(jobs, audit) == 0)
    }

    /// What the job queue holds at this moment.
    func jobCounts() async throws -> QueueCounts { try await local.jobCounts() }

    /// Asks the broker until nothing is left in the job queue: a job that was delivered again may still be under way
    /// when its first result is known.
    func awaitEmptyJobQueue() async throws {
        while try await jobCounts().total > 0 {
            try Task.checkCancellation()
            BrokerStack.pause()
        }
    }

    /// Asks the broker until no job is held by a worker.
    ///
    /// - Returns: How many jobs wait then.
    func awaitHandedBack() async throws -> Int {
        while true {
            try Task.checkCancellation()
            let counts = try await jobCounts()
            if counts.unacknowledged == 0 { return counts.ready }
            BrokerStack.pause()
        }
    }

    /// Waits for the end of a worker.
    ///
    /// - Returns: How it ended; nil when it still runs at the limit.
    func ending(of worker: ChildProcess, within limit: Duration) async throws -> ChildProcess.Ending? {
        try await BlockingWork.run("ending") { worker.wait(timeout: limit) }
    }

    /// Whether a worker has logged something.
    func hasLogged(_ text: String, of worker: String) throws -> Bool {
        try String(contentsOfFile: local.logFile(of: worker), encoding: .utf8).contains(text)
    }

    /// Waits until a worker has logged something.
    func awaitLog(of worker: String, _ text: String) async throws {
        while try !hasLogged(text, of: worker) {
            try Task.checkCancellation()
            BrokerStack.pause()
        }
    }

    /// Ends workers with SIGTERM and expects each to leave in good order.
    func stop(_ workers: [ChildProcess]) async throws {
        for worker in workers { worker.signal(SIGTERM) }
        for worker in workers {
            #expect(try await ending(of: worker, within: .seconds(45)) == .exited(0))
        }
    }

    /// Compares the ledgers of a watch, which reads whatever is left and ends.
    ///
    /// - Returns: Everything that was read.
    func account(of watch: AuditWatch) async throws -> RunAudit.State {
        _ = try await local.compare(watch.audit)
        return watch.audit.current
    }

    /// Compares the ledgers once everything is settled, and expects nothing to be lost, unexplained or left over.
    ///
    /// - Parameters:
    ///   - watch: What was reported so far; it reads whatever is left and ends.
    ///   - mostExtra: How many pushes may have been made more than once.
    ///   - deaths: How many workers died: one job may be pushed once more for each, and still have one result.
    /// - Returns: What was found.
    @discardableResult
    func expectClean(_ watch: AuditWatch, mostExtra: Int, deaths: Int = 1) async throws -> RunLedger.Balance {
        let comparison = try await local.compare(watch.audit)
        // A stream keeps what was read.
        let problems = comparison.problems(
            mostExtra: mostExtra, deaths: deaths, leftovers: [TopologyNames.fleetQueue])
        #expect(problems.isEmpty)
        return comparison.balance
    }
}
