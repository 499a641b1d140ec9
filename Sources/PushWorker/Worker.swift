import EventLoop
package import Logging
import ServiceLifecycle
import Synchronization
package import WorkerSettings

/// The worker: the lane that pushes, seen from the ordinary side of the process.
///
/// It never ends because a broker or APNs cannot be reached.
package final class Worker: Sendable {
    /// What the lane is told.
    private let settings: LaneSettings
    /// The outside of the lane.
    let lane = LaneHandle()
    /// The worker's name.
    package let instance: String
    /// When the worker was put together.
    let startedAt = MonotonicTime.now()
    /// The credentials of all routes.
    let credentials: CredentialStore
    /// The routes, which follow the configuration.
    let routes: RunningRoutes
    /// Finds this worker's share of the routes; nil where that is written.
    let fleet: Fleet?
    /// Reads what operators ask of all workers.
    let control: ControlReader
    /// What its reports say of it whatever happens.
    let identity: WorkerIdentity
    private let adminServer = Mutex<ListenAddress?>(nil)
    private let reporter: WorkerReporter
    /// Publishes the results of jobs that RabbitMQ ended.
    let letters: BrokerLetterReporter
    /// What the worker runs with.
    private let configuration: Mutex<WorkerConfiguration>
    private let watcher: CredentialWatcher
    private let journalDirectory: String?
    /// The spans of notifications; nil where no collector is configured.
    let tracing: WorkerTracing?
    private let logger: Logger
    /// Where its log lines go, which counts those that found no room.
    let log: LogSink?

    /// Puts a worker together; nothing is started or connected yet.
    ///
    /// - Parameters:
    ///   - configuration: What it shall do.
    ///   - version: The program's version.
    ///   - logger: Where it says what happens.
    ///   - log: What the logger writes to; nil where nobody counts its lines.
    ///   - credentialInterval: How often the files of credentials are looked at; nil for the usual time.
    ///
    /// - Throws: `WorkerError` where no key or certificate of a route can be used, or for a broker URI that cannot be
    ///   read.
    package init(
        configuration: WorkerConfiguration, version: String, logger: Logger, log: LogSink? = nil,
        credentialInterval: Duration? = nil
    ) throws(WorkerError) {
        self.logger = logger
        self.log = log
        instance = configuration.instance
        self.configuration = Mutex(configuration)
        journalDirectory = configuration.journal
        tracing = WorkerTracing(configuration, version: version, logger: logger)
        credentials = try CredentialStore(
            configuration.credentials, trust: WorkerBuilder.trust(configuration.apns),
            used: Set(configuration.routes.map(\.credential)))
        let maker = try RouteMaker(configuration.apns, resultsBatch: configuration.results.batch)
        var settings = try WorkerBuilder(configuration: configuration, version: version, credentials: credentials)
            .lane(maker)
        let announce: @Sendable (LaneMessage) -> Void = { [lane] in lane.post($0) }
        let isWorking: @Sendable () -> Bool = { [lane] in lane.status?.isWorking == true }
        let isConnected: @Sendable () -> Bool = { [lane] in lane.status?.isConnected == true }
        let fleet = Self.fleet(configuration, isWorking, announce, logger)
        self.fleet = fleet
        let routes = RunningRoutes(
            configuration.routes, on: settings,
            surroundings: RunningRoutes.Surroundings(
                maker: maker, lane: lane, memory: settings.memory,
                share: { [share = configuration.share] in
                    fleet?.routesChanged($0)
                    Self.serve(share, of: $0, announce)
                }),
            logger: logger)
        self.routes = routes
        settings.spans = tracing?.spans
        settings.awaitsControl = true
        settings.routeLeft = { routes.left($0) }
        self.settings = settings
        identity = WorkerIdentity(configuration, program: version)
        control = ControlReader(
            configuration.instance,
            surroundings: ControlReader.Surroundings(
                broker: configuration.broker, isWorking: isWorking, isConnected: isConnected,
                announce: { announce(.control($0)) },
                consuming: { [lane] in routes.consuming(lane.status) }, deal: { announce(.fleetRates($0)) },
                deadTokens: Dictionary(settings.routes.map { ($0.name, $0.deadTokens) }) { $1 }),
            logger: logger)
        reporter = WorkerReporter(
            configuration.instance, broker: configuration.broker, isWorking: { isConnected() && isWorking() },
            logger: logger)
        letters = BrokerLetterReporter(
            settings, isWorking: { isConnected() && isWorking() }, logger: logger)
        watcher = CredentialWatcher(
            store: credentials, logger: logger, interval: credentialInterval ?? CredentialWatcher.interval,
            announce: announce)
    }

    /// Tells the lane which routes a worker serves whose share is written.
    ///
    /// - Parameters:
    ///   - share: The share.
    ///   - routes: The names of all routes, by their numbers.
    ///   - announce: Tells the lane.
    private static func serve(
        _ share: RouteShare, of routes: [String?], _ announce: @Sendable (LaneMessage) -> Void
    ) {
        guard case .fixed(let number, let count) = share else { return }
        announce(.served(RouteAssignment(fixed: count).served(by: "\(number)", of: routes)))
    }

    /// Tells the lane which routes it serves, or makes what will tell it.
    private static func fleet(
        _ configuration: WorkerConfiguration, _ isWorking: @escaping @Sendable () -> Bool,
        _ announce: @escaping @Sendable (LaneMessage) -> Void, _ logger: Logger
    ) -> Fleet? {
        let routes = configuration.routes.map(\.name)
        switch configuration.share {
        case .all, .fixed:
            serve(configuration.share, of: routes, announce)
            return nil
        case .automatic:
            announce(.served(ServedRoutes([])))
            return Fleet(
                FleetReport(instance: configuration.instance, startedAt: WallClock.milliseconds()),
                surroundings: Fleet.Surroundings(
                    broker: configuration.broker, routes: routes, isWorking: isWorking, announce: announce),
                logger: logger)
        }
    }

    /// Follows a configuration that was read again, as far as that needs no restart, and says in the log what follows
    /// and what does not. The files of all credentials are read again; what changed there is proved before it is used.
    ///
    /// - Parameter new: The configuration.
    package func reload(_ new: WorkerConfiguration) {
        let change = configuration.withLock { configuration in
            let change = ConfigurationChange(from: configuration, to: new)
            configuration = change.running
            return change
        }
        // Where credentials are read: new routes find theirs.
        watcher.reload(change.running.credentials) { [self] in
            routes.follow(change.running.routes)
            warnOfMemory()
            say(change)
        }
    }

    /// Logs what changed, and sets the level of the log.
    private func say(_ change: ConfigurationChange) {
        // The line is written if it is due by either level.
        let level = change.running.log.level
        if let log { log.threshold.set(min(level, log.threshold.level)) }
        let followed = change.followed.isEmpty ? "nothing" : change.followed.joined(separator: ", ")
        var metadata = Logger.Metadata.with([.followed: "\(followed)"])
        if !change.restart.isEmpty {
            metadata[LogKey.needsRestart.rawValue] = "\(change.restart.joined(separator: ", "))"
        }
        logger.log(
            level: change.restart.isEmpty ? .notice : .warning, "the configuration was read again", metadata: metadata)
        log?.threshold.set(level)
    }

    /// Notes where the admin server listens: only the system knows the port where the configuration asks for 0.
    ///
    /// - Parameter address: The address with the port that the server has.
    package func adminServer(listensOn address: ListenAddress) { adminServer.withLock { $0 = address } }

    /// Where the admin server listens, for the reports to operators; nil where it does not.
    var adminAddress: String? { adminServer.withLock { $0?.description } }

    /// Starts the lane and waits until it has drained, which it begins to do when a graceful shutdown of the task is asked
    /// for, or the task is cancelled.
    package func run() async throws {
        let journal = openJournal()
        warnOfMemory()
        try startLane(journal)
        let exporting = tracing?.run()
        let (watcher, logger) = (watcher, logger)
        _ = try LoopThread.start(name: "martlet-files") {
            do throws(EventLoopError) {
                try watcher.run()
            } catch {
                logger.error("credential files are not watched", metadata: .with([.error: "\(error.message)"]))
            }
        }
        if let fleet { _ = try LoopThread.start(name: "martlet-fleet") { fleet.run() } }
        let control = control
        _ = try LoopThread.start(name: "martlet-control") { control.run() }
        _ = try LoopThread.start(name: "martlet-report") {
            self.reporter.run {
                self.report(at: WallClock.milliseconds(), isDraining: $0)
            } holding: {
                self.holdingRoutes()
            } readers: {
                self.fleetStatus()?.workers ?? 0
            }
        }
        let letters = letters
        _ = try LoopThread.start(name: "martlet-letters") { letters.run() }
        let watchdog = WorkerWatchdog(
            lane: lane.pulse, readiness: { self.readiness() }, logger: logger)
        _ = try LoopThread.start(name: "martlet-watch") { watchdog.run() }
        defer {
            // Not waited for: one may be reading from a file system that hangs.
            watcher.stop()
            watchdog.stop()
            fleet?.leave()
            reporter.stop()
            letters.stop()
            control.stop()
        }
        // Whoever cancels, as a group does for a service that failed, waits here too: the lane always ends in good order.
        await withTaskCancellationOrGracefulShutdownHandler {
            await lane.waitUntilEnded()
            await fleet?.waitUntilLeft()
            await reporter.waitUntilEnded()
            if let exporting { await tracing?.finish(exporting) }
        } onCancelOrGracefulShutdown: {
            self.drain()
        }
    }

    /// Starts the thread of the lane.
    private func startLane(_ journal: Journal?) throws(EventLoopError) {
        var settings = settings
        settings.journal = journal
        _ = try LoopThread.start(name: "martlet-lane") { [settings, lane, logger] in
            do throws(EventLoopError) {
                try Lane(settings: settings, handle: lane, logger: logger).run()
            } catch {
                logger.critical("the lane cannot start", metadata: .with([.error: "\(error.message)"]))
                lane.ended(isDrained: true)
            }
        }
    }

    /// Opens the journal, where one is configured; without it the worker works as well, but pushes more twice after a
    /// crash.
    private func openJournal() -> Journal? {
        guard let directory = journalDirectory else { return nil }
        do throws(Journal.Failure) {
            let journal = try Journal(directory, now: WallClock.milliseconds())
            logger.info("the journal is open", metadata: .with([.file: "\(directory)", .count: "\(journal.count)"]))
            return journal
        } catch {
            logger.error(
                "the journal is off: after a crash more will be pushed twice",
                metadata: .with([.error: "\(error.message)"]))
            return nil
        }
    }

    /// Says where so many queues may hold more than the memory for jobs.
    private func warnOfMemory() {
        guard settings.prefetch == nil, let problem = settings.memory.problem else { return }
        logger.warning("the memory for jobs is small for so many queues", metadata: .with([.detail: "\(problem)"]))
    }

    private func drain() {
        let grace = configuration.withLock(\.shutdownGrace)
        logger.info("draining", metadata: .with([.grace: "\(grace)"]))
        // First of all, so that others take this worker's routes up at once.
        fleet?.leave()
        reporter.stop()
        letters.stop()
        // A second is kept for closing connections.
        let deadline = MonotonicTime.now().adding(max(.seconds(1), grace - .seconds(1)))
        lane.post(.drain(deadline: deadline))
    }

    /// Whether the lane ended with nothing left in flight.
    package var isDrained: Bool { lane.isDrained }
}
