import APNSSimulator
import BrokerClient
import EventLoop
import Foundation
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Rig
import Synchronization
import TestSupport
import Testing
import Topology

/// The whole way with everything of one's own: a RabbitMQ, a local APNs, workers as processes, and relays in between
/// where the setup wants them; all of it can be broken.
final class FaultRing: Sendable {
    private struct State {
        var workers: [FaultWorker] = []
        var started = 0
        var kills = 0
        var held = 0
        var memory = 0
        var recoveries: [Duration] = []
        var connects: [String: Double] = [:]
        var repairs: [@Sendable () -> Void] = []
        var problems: [String] = []
        var figures: [String] = []
        var comparison: RunComparison?
    }

    /// What it was made from.
    let setup: FaultSetup
    /// Broker, simulator and the workers' configuration.
    let local: LocalRun
    /// Who was promised what, and what became of it.
    let watch: AuditWatch
    /// Every kind of result and dead letter that is read has to obey the contract's schemas.
    private let contract = ContractCheck(takesSamples: true)
    /// Between workers and the broker, where the setup says so.
    let brokerProxy: FaultProxy?
    /// Between workers and APNs, where the setup says so.
    let apnsProxy: FaultProxy?
    /// The other nodes of the broker's cluster, where the setup asks for some.
    let companions: [PrivateBroker]
    /// The route beside those that something happens to, where the setup asks for one.
    let neighbour: FaultNeighbour?
    private let state = Mutex(State())

    private init(_ setup: FaultSetup, _ local: LocalRun, _ companions: [PrivateBroker]) throws {
        self.setup = setup
        self.local = local
        self.companions = companions
        watch = AuditWatch { [contract] in contract.note($0) }
        neighbour = setup.neighbour ? FaultNeighbour() : nil
        if neighbour != nil { watch.audit.ignore(FaultNeighbour.app.topic) }
        brokerProxy = setup.brokerProxy ? try FaultProxy(to: local.broker.port) : nil
        apnsProxy = setup.apnsProxy ? try FaultProxy(to: local.simulator.port) : nil
    }

    /// Starts broker and simulator; no worker runs yet.
    static func start(_ setup: FaultSetup) async throws -> FaultRing {
        let local = try await LocalRun.start(
            apps: setup.routes, settings: setup.settings, requestTimeout: setup.requestTimeout,
            scenario: setup.scenario, sendsDate: setup.sendsDate, broker: setup.broker)
        do {
            let companions = try await BlockingWork.run("companions") {
                try setup.preparation.forEach { _ = try local.broker.evaluate($0) }
                return try local.broker.startCompanions(setup.companions)
            }
            return try FaultRing(setup, local, companions)
        } catch {
            await local.stop()
            throw error
        }
    }

    /// Remembers what has to be undone when everything ends, whatever happens.
    func atEnd(_ repair: @escaping @Sendable () -> Void) { state.withLock { $0.repairs.append(repair) } }

    /// Ends everything; nothing stays behind.
    func stop() async {
        await neighbour?.end()
        let (workers, repairs) = state.withLock { state in
            defer {
                state.workers = []
                state.repairs = []
            }
            return (state.workers, state.repairs)
        }
        _ = try? await BlockingWork.run("workers") { [companions] in
            for repair in repairs.reversed() { repair() }
            for worker in workers {
                worker.process.signal(SIGCONT)
                worker.process.terminate(grace: .zero)
            }
            for companion in companions { companion.stop() }
        }
        await local.stop()
    }

    // MARK: What is known

    /// The broker.
    var broker: PrivateBroker { local.broker }
    /// The local APNs.
    var simulator: RunningSimulator { local.simulator }
    /// The ledger's reader; it reads only in the end.
    var audit: RunAudit { watch.audit }
    /// The workers that run.
    var workers: [FaultWorker] { state.withLock { $0.workers } }
    /// The first of them.
    var worker: FaultWorker {
        get throws {
            guard let first = workers.first else { throw FaultFailure("no worker runs") }
            return first
        }
    }
    /// How many notifications were promised.
    var promises: Int { audit.look { $0.ledger.promises } }
    /// How many pushes APNs saw, but for the neighbour's.
    var pushes: Int { answers.reduce(0) { $0 + $1.count } }
    /// Everything the broker logged.
    var brokerLog: String {
        get throws { try String(contentsOfFile: broker.logFile, encoding: .utf8) }
    }
    /// The instance names of all workers that ever ran.
    var workerNames: [String] { (0..<state.withLock { $0.started }).map { "worker-\($0 + 1)" } }
    /// Files worth keeping when something is wrong.
    var logs: [String] {
        [broker.logFile, local.configurationFile] + companions.map(\.logFile) + workerNames.map(local.logFile(of:))
    }

    /// Notes a problem unless something is so: the run goes on, and its line in the table says what was wrong.
    func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) {
        guard !condition else { return }
        let text = otherwise()
        state.withLock { $0.problems.append(text) }
    }

    /// Adds a figure to the line in the table.
    func note(_ figure: String) { state.withLock { $0.figures.append(figure) } }

    // MARK: Workers

    /// Starts a worker.
    ///
    /// - Parameters:
    ///   - variables: Variables that override its configuration, beside those of the setup.
    ///   - wrapper: A program and arguments that become the worker; nil for the setup's.
    @discardableResult
    func startWorker(_ variables: [String: String] = [:], wrapper: [String]? = nil) throws -> FaultWorker {
        let number = state.withLock { state in
            state.started += 1
            return state.started
        }
        var settings = setup.variables
        // Failures that repeat themselves are told at this level.
        settings["MARTLET_LOG_LEVEL"] = "debug"
        if let brokerProxy { settings["MARTLET_BROKER_URI"] = "amqp://guest:guest@127.0.0.1:\(brokerProxy.port)/" }
        if let apnsProxy { settings["MARTLET_APNS_DEVELOPMENT"] = "https://localhost:\(apnsProxy.port)" }
        settings.merge(variables) { _, new in new }
        let name = "worker-\(number)"
        // One that was found free a moment ago may be that of a worker that does not listen yet.
        let taken = Set(workers.map(\.adminPort))
        var port = try FreePort.next()
        while taken.contains(port) { port = try FreePort.next() }
        let worker = FaultWorker(
            name: name,
            process: try local.startWorker(
                name, adminPort: port, settings: settings, wrapper: wrapper ?? setup.wrapper),
            adminPort: port, logFile: local.logFile(of: name))
        state.withLock { $0.workers.append(worker) }
        return worker
    }

    /// Kills a worker and counts it.
    func kill(_ worker: FaultWorker) async throws {
        remember(worker)
        worker.process.signal(SIGKILL)
        state.withLock { $0.kills += 1 }
        try await retire(worker, endingWith: .signalled(SIGKILL))
    }

    /// Waits until a worker has killed itself at a fail-point, and counts it.
    ///
    /// - Parameters:
    ///   - worker: The worker.
    ///   - most: How many jobs it may have held: so many may be pushed twice.
    func awaitDeath(of worker: FaultWorker, holding most: Int) async throws {
        noteHeld(atMost: most)
        state.withLock { $0.kills += 1 }
        try await retire(worker, endingWith: .signalled(SIGKILL))
        guard !worker.process.isRunning else { throw FaultFailure("\(worker.name) does not reach its fail-point") }
    }

    /// Waits for the end of a worker and takes it off the list.
    ///
    /// - Parameters:
    ///   - worker: The worker.
    ///   - ending: How it has to end.
    ///   - limit: How long it may take.
    func retire(
        _ worker: FaultWorker, endingWith ending: ChildProcess.Ending, within limit: Duration = .seconds(60)
    ) async throws {
        // It may end at any moment, and only a running process tells how much memory it had.
        let end = try await BlockingWork.run("ending") { [self] () -> ChildProcess.Ending? in
            let deadline = ContinuousClock.now.advanced(by: limit)
            while true {
                remember(worker)
                let left = ContinuousClock.now.duration(to: deadline)
                if let end = worker.process.wait(timeout: max(.zero, min(left, .milliseconds(50)))) { return end }
                if left <= .zero { return nil }
            }
        }
        expect(end == ending, "\(worker.name) ended with \(end.map { "\($0)" } ?? "nothing, it still runs")")
        state.withLock { state in state.workers.removeAll { $0 === worker } }
    }

    private func remember(_ worker: FaultWorker) {
        let memory = worker.peakMemory
        state.withLock { $0.memory = max($0.memory, memory) }
    }

    // MARK: The course of a run

    /// Starts the setup's workers, publishes its jobs and waits until APNs has accepted half of them, and until it is
    /// known how long the neighbour's usually take.
    func begin() async throws {
        for _ in 0..<setup.workers { try startWorker() }
        neighbour?.begin(local)
        try await load()
        try await neighbour?.measureAlone(within: setup.patience)
    }

    private func load() async throws {
        guard setup.jobs > 0 else { return }
        try await publish(setup.jobs, taking: setup.milliseconds)
        guard setup.workers > 0 else { return }
        try await until("half of the jobs are with APNs") { [self] in pushes >= setup.jobs / 2 }
    }

    /// Publishes jobs and waits until the broker confirmed them all.
    ///
    /// - Parameters:
    ///   - count: How many, spread over the apps.
    ///   - milliseconds: After how long APNs answers.
    func publish(_ count: Int, taking milliseconds: ClosedRange<Int> = 0...0) async throws {
        try await publish(setup.load(count, taking: milliseconds))
    }

    /// Publishes jobs and waits until the broker confirmed them all.
    func publish(_ jobs: [RunJob]) async throws {
        let refused = try await local.publish(jobs, audit)
        expect(refused == 0, "the broker refused \(refused) jobs")
    }

    /// Notes how many jobs workers hold, just before something breaks: so many may be pushed twice.
    @discardableResult
    func noteHeld() async throws -> Int {
        let held = try await local.jobCounts().unacknowledged
        let connects = try await BlockingWork.run("connects") { [self] in
            try workers.compactMap { worker in try connectCount(of: worker).map { (worker.name, $0) } }
        }
        state.withLock { state in
            state.held += held
            state.connects.merge(connects) { _, new in new }
        }
        return held
    }

    /// How often a worker has connected to the broker; nil where it cannot say, and what was known before holds.
    ///
    /// - Throws: The reason where nothing is known, and the worker runs.
    private func connectCount(of worker: FaultWorker) throws -> Double? {
        do {
            return try worker.metric("martlet_broker_connects_total")
        } catch {
            let isKnown = state.withLock { $0.connects[worker.name] != nil }
            guard worker.process.isRunning, !isKnown, worker.logLines(with: "connected to the broker") > 0 else {
                return nil
            }
            throw error
        }
    }

    /// Notes how many jobs workers may hold when something breaks that nobody can look ahead to.
    func noteHeld(atMost count: Int) { state.withLock { $0.held += count } }

    /// Lets something break.
    ///
    /// - Parameters:
    ///   - notes: Whether to note first what workers hold; not where the broker cannot say, or it is a repair.
    ///   - blow: Breaks it, on a thread where it may block.
    func strike(noting notes: Bool = true, _ blow: @escaping @Sendable (FaultRing) throws -> Void) async throws {
        if notes { try await noteHeld() }
        try await BlockingWork.run("fault") { [self] in try blow(self) }
    }

    /// Runs `rabbitmqctl` against the broker.
    @discardableResult
    func control(_ arguments: String...) async throws -> String {
        try await BlockingWork.run("control") { [broker] in try broker.control(arguments) }
    }

    /// Waits until something is so.
    ///
    /// - Parameters:
    ///   - what: What is waited for, in words.
    ///   - limit: How long it may take; nil for the setup's patience.
    ///   - condition: Looked at again and again; may block.
    /// - Throws: `FaultFailure` when it takes longer.
    func until(
        _ what: String, within limit: Duration? = nil, _ condition: @escaping @Sendable () throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now.advanced(by: limit ?? setup.patience)
        try await BlockingWork.run("waiting") {
            while !(try condition()) {
                guard ContinuousClock.now < deadline else { throw FaultFailure("in vain: \(what)") }
                poll(nil, 0, 20)
            }
        }
    }

    /// Lets time pass with something broken, and expects all workers to live through it.
    func endure(_ duration: Duration) async throws {
        let deadline = ContinuousClock.now.advanced(by: duration)
        try await until("time passes", within: duration + .seconds(60)) { [self] in
            for worker in workers where !worker.process.isRunning { throw FaultFailure("\(worker.name) has ended") }
            return ContinuousClock.now >= deadline
        }
    }

    /// Waits until all workers are ready, and notes how long that took.
    ///
    /// - Parameter start: When the fault was over; nil for the moment the broker accepts logins, from now on.
    func awaitReady(since start: ContinuousClock.Instant? = nil) async throws {
        try await awaitReady(since: start) { _ in true }
    }

    /// Waits until all workers have reopened both connections of each lane, counted from the last `noteHeld`, and are
    /// ready, and notes how long that took.
    ///
    /// - Parameter start: When the fault was over; nil for the moment the broker accepts logins, from now on.
    func awaitReconnected(since start: ContinuousClock.Instant? = nil) async throws {
        let before = state.withLock { $0.connects }
        try await awaitReady(since: start) { worker in
            // Whoever started meanwhile counts from zero.
            try worker.metric("martlet_broker_connects_total") >= before[worker.name, default: 0]
                + worker.samples("martlet_broker_connection_up")
        }
    }

    private func awaitReady(
        since start: ContinuousClock.Instant?, _ condition: @escaping @Sendable (FaultWorker) throws -> Bool
    ) async throws {
        try await until("the broker accepts logins") { [local] in (try? local.connect("probe").close()) != nil }
        let began = start ?? .now
        // Each is asked until it is ready, then left alone: hundreds that are asked all the time do little else.
        let waiting = Mutex(workers)
        try await until("all workers are ready") { [self] in
            let left = waiting.withLock(\.self).drop { isReady($0) && ((try? condition($0)) ?? false) }
            if left.isEmpty, workers.allSatisfy(isReady) { return true }
            waiting.withLock { $0 = left.isEmpty ? workers : Array(left) }
            return false
        }
        let took = began.duration(to: .now)
        state.withLock { $0.recoveries.append(took) }
    }

    /// Waits until a worker has logged something.
    func awaitLog(_ text: String, of worker: FaultWorker) async throws {
        try await until("\(worker.name) logs \"\(text)\"") { worker.log.contains(text) }
    }

    // MARK: The end

    /// Proves that work goes on, waits until everything is final, and compares the ledgers.
    func conclude() async throws {
        try await judgeNeighbour()
        if !workers.isEmpty { try await publish(100) }
        let uri = broker.uri
        try await BlockingWork.run("audit") { [audit] in try audit.read(uri, from: .queues) }
        do {
            try await until("everything is final") { [audit] in
                audit.look { $0.ledger.open == 0 || $0.failure != nil }
            }
            try await until("nothing waits in a job or retry queue") { [self] in
                try broker.queueCounts().allSatisfy { name, counts in
                    setup.leftovers.contains(name) || counts.total == 0
                        || !(TopologyNames.holdsJobs(name) || name == TopologyNames.brokerLettersQueue)
                }
            }
        } catch { expect(false, "\(error)") }
        let comparison = try await local.compare(audit)
        state.withLock { state in
            state.comparison = comparison
            let most = state.held * (setup.isMixed ? RunJob.mostOfMixed : 1)
            state.problems += comparison.problems(
                mostExtra: min(most, setup.mostTwice ?? .max), mostRepeated: most, deaths: state.kills,
                outcomes: setup.outcomes, brokerDeadLetters: setup.brokerDeadLetters, leftovers: setup.leftovers)
        }
        for problem in try await BlockingWork.run("contract", { [contract] in try contract.problems() }) {
            expect(false, "the contract: \(problem)")
        }
        try checkAcknowledgements()
        try await checkSecrecy()
        for worker in workers {
            remember(worker)
            expect(worker.process.isRunning, "\(worker.name) has ended")
            worker.process.signal(SIGTERM)
        }
        for worker in workers { try await retire(worker, endingWith: .exited(0)) }
        let memory = state.withLock { $0.memory }
        expect(memory <= setup.memoryCeiling, "a worker had \(memory) MiB, more than \(setup.memoryCeiling)")
    }

    /// Looks for acknowledgements of what another channel delivered, which brokers complain of.
    private func checkAcknowledgements() throws {
        for file in [broker.logFile] + companions.map(\.logFile) {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            expect(!text.contains("unknown delivery tag"), "the broker was sent an acknowledgement it did not expect")
        }
    }

    /// The middle one of some durations, the later of two.
    static func median(_ durations: [Duration]) -> Duration { durations.sorted()[durations.count / 2] }

    /// How long workers took to be ready again, each time.
    var recoveries: [Duration] { state.withLock { $0.recoveries } }

    /// Writes down what the run came to.
    func fill(_ row: inout FaultRow) {
        row.jobs = promises
        state.withLock { state in
            row.kills = state.kills
            row.lost = state.comparison?.balance.lost.count ?? 0
            row.twice = state.comparison?.balance.explainedDuplicates ?? 0
            row.held = state.held
            row.recovery = state.recoveries.isEmpty ? nil : FaultBench.seconds(Self.median(state.recoveries))
            row.recoveries = state.recoveries.count
            row.memory = state.memory
            row.figures = state.figures
            row.problems = state.problems
        }
    }
}
