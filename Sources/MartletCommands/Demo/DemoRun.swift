import APNSSimulator
import BrokerClient
import EventLoop
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Rig
import Text
import Topology

/// One demo from the first process to the verdict. Cancelling its task ends it early; everything is stopped either way.
struct DemoRun {
    /// An event of a running demo.
    enum Event: Sendable {
        /// Results or dead letters were read.
        case read
        /// Time passed.
        case tick
        /// A producer is done. The broker refused so many of its jobs.
        case published(refused: Int)
        /// A producer failed.
        case failed(String)
        /// Something happened to a device.
        case told(String)
    }

    /// How often the live view is drawn.
    static let tick = Duration.milliseconds(100)
    /// How long workers may take to leave.
    static let grace = Duration.seconds(20)
    /// Shorter than a worker's default, so that an unanswered push and its retry fit into the demo.
    static let requestTimeout = Duration.seconds(5)

    private let mix: DemoJobMix
    private let campaign: DemoCampaignPlan
    private let seed: UInt64
    private let isKept: Bool
    private let format: OutputFormat
    private var view = DemoView()
    private var status = DemoStatus()
    private let devices = DemoDevices()
    private var producers = 3
    private var refused = 0
    private var killedWorker: String?

    /// Plans a demo.
    ///
    /// - Parameters:
    ///   - jobs: How many jobs to publish.
    ///   - seed: Chooses the jobs; the same seed gives the same ones.
    ///   - isKept: Whether everything runs on until the task is cancelled.
    ///   - format: How the report is printed.
    init(jobs: Int, seed: UInt64, isKept: Bool, format: OutputFormat) {
        campaign = DemoCampaignPlan(among: jobs)
        let others = DemoDevicePlan.count + campaign.count + campaign.highCount
        mix = DemoJobMix(count: jobs - others, seed: seed)
        self.seed = seed
        self.isKept = isKept
        self.format = format
        status.jobs = jobs
        status.notifications = mix.notifications + others
    }

    /// Runs the demo.
    ///
    /// - Returns: Whether everything is final and explained.
    /// - Throws: `CancellationError` where it was stopped early, else the failure that ended it.
    mutating func run() async throws -> Bool {
        view.say("Starting a private RabbitMQ and a local APNs; then two workers and six devices.")
        // The management API takes time to start. Only a demo that keeps running needs it.
        let options = PrivateBrokerOptions(management: isKept)
        let local = try await DemoPulse.show("RabbitMQ and APNs are starting") {
            try await LocalRun.start(apps: DemoJobMix.apps, requestTimeout: Self.requestTimeout, broker: options)
        }
        var workers = DemoWorkers(local, isKept: isKept)
        let result: Result<Bool, any Error>
        do {
            result = .success(try await run(on: local, &workers))
        } catch {
            result = .failure(error)
        }
        // In another task: in this one, if it is cancelled, nothing can wait any more.
        let (crew, phones) = (workers, devices)
        await Task {
            // The queues and results end with the broker, so the workers need not finish anything.
            await crew.stop(grace: .zero)
            _ = try? await BlockingWork.run("demo-stop") { phones.stop() }
            await local.stop()
        }.value
        return try result.get()
    }

    private mutating func run(on local: LocalRun, _ workers: inout DemoWorkers) async throws -> Bool {
        try Task.checkCancellation()
        let names = [try workers.add(), try workers.add()]
        try await DemoPulse.show("workers and devices are starting") { [devices] in
            try await Self.start(devices, on: local)
        }
        let owners = DemoDevicePlan.owners.map(\.name).joined(separator: ", ")
        view.say(
            "Started \(names.joined(separator: " and ")), and devices of \(owners); "
                + "publishing \(TimeText.count(status.jobs)) jobs (seed \(seed)).")
        let (events, feed) = AsyncStream.makeStream(of: Event.self)
        let audit = try await BlockingWork.run("demo-audit") { [uri = local.broker.uri] in
            try RunAudit(uri, reading: .taps) { feed.yield(.read) }
        }
        let ticker = Task {
            while (try? await Task.sleep(for: Self.tick)) != nil { feed.yield(.tick) }
        }
        let isStopped = StopSign()
        let publishing: [@Sendable (inout RunProducer) throws -> Void] = [
            { [mix] producer in
                for job in mix {
                    if isStopped.isRaised { break }
                    try producer.publish(job, enqueuedAt: WallClock.milliseconds(), audit: audit)
                }
                try producer.finish(audit: audit)
            },
            { [devices] producer in
                var show = DemoDeviceShow(local, devices, audit, until: isStopped) { feed.yield(.told($0)) }
                try show.run(&producer)
            },
            { [campaign] producer in
                let show = DemoCampaignShow(campaign, local, audit, until: isStopped) { feed.yield(.told($0)) }
                try show.run(&producer)
            },
        ]
        let producers = publishing.map { body in
            Task {
                do {
                    let refused = try await BlockingWork.run("demo-producer") {
                        try Self.publish(on: local, until: isStopped, body)
                    }
                    feed.yield(.published(refused: refused))
                } catch {
                    feed.yield(.failed("publishing failed: \(error)"))
                }
            }
        }
        let result: Result<Bool, any Error>
        do {
            let isComplete = try await follow(events, audit, &workers)
            result = .success(try await conclude(local, audit, workers, isComplete: isComplete))
        } catch {
            result = .failure(error)
        }
        isStopped.raise()
        ticker.cancel()
        for producer in producers { await producer.value }
        _ = try? await BlockingWork.run("demo-audit") { audit.stop() }
        return try result.get()
    }

    /// Publishes jobs once workers take them; blocks.
    ///
    /// - Returns: How many jobs the broker refused.
    private static func publish(
        on local: LocalRun, until isStopped: StopSign, _ body: (inout RunProducer) throws -> Void
    ) throws -> Int {
        let client = try local.connect("demo producer")
        defer { client.close() }
        try awaitConsumers(client, until: isStopped)
        var producer = RunProducer(client)
        try body(&producer)
        return producer.refused
    }

    /// Starts the devices and waits until they have their device tokens.
    private static func start(_ devices: DemoDevices, on local: LocalRun) async throws {
        try await BlockingWork.run("demo-devices") { try devices.start(on: local) }
        let deadline = ContinuousClock.now.advanced(by: DemoDeviceShow.patience)
        while !devices.areReady(for: local.apps) {
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(.internalFault, "the demo's devices did not get their device tokens")
            }
            try await Task.sleep(for: tick)
        }
    }

    /// Waits until both workers consume from every route's queue, so that latencies do not include their start; blocks.
    private static func awaitConsumers(_ client: AMQPBlockingClient, until isStopped: StopSign) throws {
        for app in DemoJobMix.apps {
            // The broker does not report a new consumer, so this asks again and again.
            while !isStopped.isRaised, try client.depth(of: TopologyNames.jobQueue(route: app.route)).consumers < 2 {
                usleep(50_000)
            }
        }
    }

    /// Shows the progress until every notification is final, or nothing moves for ``DemoScript/patience``.
    ///
    /// - Returns: Whether every notification is final.
    private mutating func follow(
        _ events: AsyncStream<Event>, _ audit: RunAudit, _ workers: inout DemoWorkers
    ) async throws -> Bool {
        let began = ContinuousClock.now
        var script = DemoScript(expected: mix.notifications, now: began)
        var meter = RateMeter()
        for await event in events {
            let now = ContinuousClock.now
            switch event {
            case .published(let refused):
                self.refused += refused
                producers -= 1
                if producers == 0 { script.published() }
            case .told(let news): view.say(news)
            case .failed(let message): throw CommandFailure(.internalFault, message)
            case .tick:
                try workers.check()
                show(audit, workers, elapsed: began.duration(to: now), &meter)
            case .read: break
            }
            let (progress, failure) = audit.look { state in (DemoScript.Progress(state.ledger), state.failure) }
            if let failure { throw CommandFailure(.internalFault, "reading results failed: \(failure)") }
            switch script.next(progress, now: now) {
            case .wait: continue
            case .replaceWorker: try replaceWorker(&workers)
            case .finish, .giveUp:
                show(audit, workers, elapsed: began.duration(to: now), &meter)
                view.finish()
                return progress.open == 0
            }
        }
        throw CancellationError()
    }

    private mutating func replaceWorker(_ workers: inout DemoWorkers) throws {
        killedWorker = workers.killFirst()
        let name = try workers.add()
        view.say("Half way: killed \(killedWorker ?? "no worker") with SIGKILL and started \(name).")
    }

    private mutating func show(
        _ audit: RunAudit, _ workers: DemoWorkers, elapsed: Duration, _ meter: inout RateMeter
    ) {
        let (progress, outcomes) = audit.look { state in (DemoScript.Progress(state.ledger), state.outcomes) }
        status.progress = progress
        status.outcomes = outcomes.reduce(into: [:]) { $0[$1.key.outcome, default: 0] += $1.value }
        status.elapsed = elapsed.wholeMilliseconds
        status.rate = meter.measure(progress.final, at: elapsed.wholeMilliseconds)
        status.workers = workers.members.map { ($0.name, $0.isKilled ? .killed : .running) }
        status.devices = devices.members.map { member in
            DemoStatus.Device(
                name: member.owner.name, state: member.isOnline ? DemoStatus.Device.online : "offline",
                received: member.arrivals.count, last: member.last)
        }
        view.show(status)
    }

    /// Waits until no job is under way any more, compares the ledgers, and prints the report.
    private mutating func conclude(
        _ local: LocalRun, _ audit: RunAudit, _ workers: DemoWorkers, isComplete: Bool
    ) async throws -> Bool {
        if !isComplete {
            let limit = TimeText.length(DemoScript.patience.wholeMilliseconds)
            view.say("Nothing has moved for \(limit): giving up.")
            for member in workers.alive {
                view.say("\(member.name) logged last:\n\(workers.lastWords(of: member.name))")
            }
        }
        let queues = try await settledQueues(local, isComplete: isComplete)
        if !isKept { await workers.stop(grace: Self.grace) }
        let (state, accounts) = try await BlockingWork.run("demo-audit") { [devices] in
            audit.stop()
            let records = local.simulator.ledger.records()
            for record in records where record.status == 200 {
                audit.record { $0.accepted(apnsID: record.id.description) }
            }
            return (audit.current, Self.accounts(of: devices.members, records))
        }
        try Task.checkCancellation()
        let dead = [TopologyNames.deadQueue, TopologyNames.deadTokensQueue]
        let report = DemoReport(
            seed: seed, jobs: status.jobs - refused, refused: refused, killedWorker: killedWorker, state: state,
            balance: state.ledger.balance(),
            deadLetters: Dictionary(uniqueKeysWithValues: dead.map { ($0, queues[$0]?.total ?? 0) }), devices: accounts)
        // Before the report, so that the verdict is the last line.
        if !isKept { for line in DemoHints.later { view.say(line) } }
        switch format {
        case .text: report.lines(colour: Self.coloursReport).forEach { Console.data(Array($0.utf8)) }
        case .json: Console.data(report.json.bytes)
        }
        try Console.flush()
        try await closeUp(local, workers)
        return report.isClean && isComplete
    }

    private static func accounts(of members: [DemoDevices.Member], _ records: [LedgerRecord]) -> [DemoDeviceAccount] {
        let tokens = Set(members.flatMap(\.tokens.values))
        let pushes = records.filter { tokens.contains($0.token) }.map { record in
            DemoDeviceAccount.Push(
                id: record.id.description, token: record.token, status: record.status, time: record.time)
        }
        return members.map { DemoDeviceAccount($0, pushes: pushes) }
    }

    /// Waits until the job queues are empty: a redelivered job can still be in flight after its first result.
    private func settledQueues(_ local: LocalRun, isComplete: Bool) async throws -> [String: QueueCounts] {
        let deadline = ContinuousClock.now.advanced(by: DemoScript.patience)
        while true {
            try Task.checkCancellation()
            let counts = try await BlockingWork.run("demo-queues") { try local.broker.queueCounts() }
            let isBusy = counts.contains { name, count in
                TopologyNames.holdsJobs(name) && count.total > 0
            }
            if !isBusy || !isComplete || ContinuousClock.now >= deadline { return counts }
        }
    }

    /// Prints the hints and keeps everything running, where that was asked for.
    private mutating func closeUp(_ local: LocalRun, _ workers: DemoWorkers) async throws {
        guard isKept else { return }
        let hints = try DemoHints(local, workers.alive, devices.members)
        for line in hints.lines { view.say(line) }
        // A signal cancels the task, and that ends the sleep.
        try? await Task.sleep(for: .seconds(365 * 86_400))
    }

    private static var coloursReport: Bool { Console.isTerminal(1) && Console.allowsColour }
}

extension DemoScript.Progress {
    /// Reads the progress from a ledger.
    fileprivate init(_ ledger: borrowing RunLedger) {
        self.init(promised: ledger.promises, open: ledger.open, final: ledger.finals)
    }
}
