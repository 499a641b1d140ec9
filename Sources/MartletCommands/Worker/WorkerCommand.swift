import ArgumentParser
import Dispatch
import EventLoop
import FoundationEssentials
import Glibc
import Logging
import PushWorker
import RabbitMQ
import ServiceLifecycle
import Text
import UnixSignals
import WorkerSettings

/// `martlet worker`: takes jobs from RabbitMQ to APNs, and publishes the results.
struct WorkerCommand: AsyncParsableCommand {
    /// How the command presents itself.
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run a worker: jobs from RabbitMQ, pushes to APNs, results and dead letters back.",
        usage: """
            martlet worker --config martlet.yaml
            MARTLET_LOG_LEVEL=debug martlet worker --config martlet.yaml
            """,
        discussion: """
            Run as many as you like with the same configuration; they share the queues. Only admin.listen must differ \
            on one machine (MARTLET_ADMIN_LISTEN=127.0.0.1:0 takes any free port). A worker never ends because a \
            broker or APNs cannot be reached: /readyz at admin.listen says what it waits for.

            SIGTERM (or control-C) takes no more jobs, finishes what is in flight within shutdown.grace, and hands the \
            rest back to the broker. Another one, a second later or more, leaves at once; the broker then delivers \
            again what was in flight.

            SIGHUP reads the configuration again, with the files of credentials, which are also watched. The log says \
            what the worker follows and what needs a restart; a configuration with errors changes nothing. A new key or \
            certificate is proved on a connection of its own before the others follow.

            A service manager that sets NOTIFY_SOCKET, such as systemd with Type=notify, is told when the worker is \
            ready, reloads and stops; with WatchdogSec= it hears from the worker while its lane turns.

            Exit codes: 0 stopped by a signal, 66 no configuration file, 70 a fault of Martlet's own, 75 left before \
            everything was finished, 78 wrong configuration.
            """)

    /// The signals that ask the worker to end.
    static let stopSignals: [UnixSignal] = [.sigterm, .sigint]
    /// The signal that makes it read its configuration again.
    static let reloadSignal = UnixSignal.sighup

    @OptionGroup
    var configurationOptions: ConfigurationOptions

    /// Runs until a signal ends it.
    func run() async throws {
        // Done before anything that takes time, so that a signal during the start ends the worker in good order, too.
        let signals = await UnixSignalsSequence(trapping: Self.stopSignals + [Self.reloadSignal])
        try ProcessSetup.prepare()
        let configuration = try configurationOptions.load(for: .route)
        let log = try WorkerLogging.bootstrap(configuration.log, environment: ProcessInfo.processInfo.environment)
        defer { log.flush() }
        let logger = Self.logger(naming: configuration.instance)
        let worker: Worker
        do {
            worker = try Worker(configuration: configuration, version: Version.number, logger: logger, log: log)
        } catch {
            throw CommandFailure(.configuration, error.message)
        }
        sayStart(configuration, logger)
        for case .token(let token) in configuration.credentials {
            guard let mismatch = AppleKeyFile.mismatch(token.keyFile, keyID: token.keyID) else { continue }
            logger.warning(
                "a key's identifier does not fit the name of its file",
                metadata: .with([.credential: "\(token.name)", .detail: "\(mismatch)"]))
        }
        let manager = ServiceManagerLink(
            worker: worker, heartbeat: configuration.broker.heartbeat, environment: ProcessInfo.processInfo.environment,
            logger: logger)
        var services: [any Service] = manager.map { [$0] } ?? []
        var listening: AsyncStream<Void>?
        if let address = configuration.adminListen {
            let (listens, nowListens) = AsyncStream.makeStream(of: Void.self)
            listening = listens
            services.append(
                Self.adminServer(at: address, of: worker, configuration, logger) { nowListens.yield() })
        }
        // The group stops its services from last to first. So the admin server and the service manager's watchdog are
        // still served while the worker drains.
        services.append(RunningWorker(worker: worker, listening: listening))
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map {
                    ServiceGroupConfiguration.ServiceConfiguration(
                        service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
                },
                logger: Self.quiet(logger)))
        let obeying = Task { await obey(signals, worker, group, manager, logger) }
        defer { obeying.cancel() }
        do {
            try await group.run()
        } catch let error as WorkerError {
            throw CommandFailure(.configuration, error.message)
        } catch let error as EventLoopError {
            throw CommandFailure(.gaveUp, "the system does not give the worker what it needs: \(error.message)")
        }
        logger.info("worker stopped", metadata: .with([.detail: "\(worker.summary)"]))
        if !worker.isDrained { throw CommandStatus.gaveUp }
    }

    /// Logs the worker's configuration file, its broker, and the variables of the environment that win over the file.
    /// The reason: variables that were exported for another purpose have led workers to another broker.
    private func sayStart(_ configuration: WorkerConfiguration, _ logger: Logger) {
        var metadata = Logger.Metadata.with([
            .version: "\(Version.number)", .file: "\(configurationOptions.config ?? "none")",
            .routes: "\(configuration.routes.count)",
        ])
        let places = (try? configuration.broker.endpoints())?.map(\.place) ?? []
        metadata[LogKey.broker.rawValue] = "\(places.joined(separator: ", "))"
        let variables = ConfigurationLoader.variables(in: ProcessInfo.processInfo.environment)
        if !variables.isEmpty { metadata[LogKey.environment.rawValue] = "\(variables.joined(separator: ", "))" }
        logger.info("worker starts", metadata: metadata)
        for warning in configuration.warnings {
            logger.warning("a setting has no effect any more", metadata: .with([.detail: "\(warning)"]))
        }
    }

    /// The admin server of a worker, with its metrics.
    private static func adminServer(
        at address: ListenAddress, of worker: Worker, _ configuration: WorkerConfiguration, _ logger: Logger,
        whenListening: @escaping @Sendable () -> Void
    ) -> AdminServer {
        let metrics = WorkerMetrics(
            build: Version.parts,
            tiers: configuration.retry.tierNames, isDetailed: configuration.metricsDetail)
        return AdminServer(
            listen: address, source: worker, metrics: metrics, heartbeat: configuration.broker.heartbeat,
            tokenFile: configuration.adminTokenFile, logger: quiet(logger),
            started: { port in
                let place = ListenAddress(host: address.host, port: port)
                worker.adminServer(listensOn: place)
                logger.info("admin server", metadata: .with([.listen: "\(place)"]))
                whenListening()
            })
    }

    /// Obeys the signals. SIGHUP reads the configuration again. For SIGTERM and SIGINT ``StopRequests`` decides.
    private func obey(
        _ signals: UnixSignalsSequence, _ worker: Worker, _ group: ServiceGroup, _ manager: ServiceManagerLink?,
        _ logger: Logger
    ) async {
        var requests = StopRequests()
        for await signal in signals {
            if signal == Self.reloadSignal {
                // A file may be on a file system that does not answer. Signals must be obeyed meanwhile.
                let options = configurationOptions
                DispatchQueue.global().async {
                    if let manager {
                        manager.reload { Self.reload(worker, options, logger) }
                    } else {
                        Self.reload(worker, options, logger)
                    }
                }
                continue
            }
            switch requests.next(at: .now) {
            case .drain:
                manager?.stop()
                await group.triggerGracefulShutdown()
            case .nothing: continue
            // The broker still has the jobs in flight, and delivers them again.
            case .leave: Glibc._exit(CommandStatus.gaveUp.rawValue)
            }
        }
    }

    /// Lets the worker follow its configuration. A configuration with errors changes nothing.
    private static func reload(_ worker: Worker, _ options: ConfigurationOptions, _ logger: Logger) {
        do throws(CommandFailure) {
            worker.reload(try options.load(for: .route, naming: worker.instance))
        } catch {
            logger.error(
                "the configuration has errors now: the worker goes on with the one it has",
                metadata: .with([.error: "\(error.message)"]))
        }
    }

    /// The worker's logger. Each of its lines names the worker, because many workers may write to one stream.
    private static func logger(naming instance: String) -> Logger {
        var logger = Logger(label: "martlet.worker")
        logger[.instance] = "\(instance)"
        return logger
    }

    /// The same logger for warnings only: operators need not know which services start and stop.
    private static func quiet(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = .warning
        return quiet
    }
}

/// The worker as one of the process's services.
private struct RunningWorker: Service {
    let worker: Worker
    /// Gives an element once the admin server listens; nil without an admin server.
    let listening: AsyncStream<Void>?

    /// Waits for the admin server first: a worker must take no job before one can ask it whether it lives.
    func run() async throws {
        if let listening {
            _ = await cancelWhenGracefulShutdown { await listening.first { true } }
            // The server failed, and the group ends.
            guard !Task.isCancelled else { return }
        }
        try await worker.run()
    }
}
