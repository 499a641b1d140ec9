import Logging
import PushWorker
import ServiceLifecycle
import WorkerSettings

/// A worker in this process.
final class LiveWorker: Sendable {
    let worker: Worker
    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    private struct Running: Service {
        let worker: Worker

        func run() async throws { try await worker.run() }
    }

    init(
        _ configuration: WorkerConfiguration, logger: Logger = Logger(label: "ring") { _ in SwiftLogNoOpLogHandler() },
        services: (Worker) -> [any Service] = { _ in [] }
    ) throws {
        let worker = try Worker(configuration: configuration, version: "test", logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: (services(worker) + [Running(worker: worker)]).map { .init(service: $0) }, logger: logger))
        self.worker = worker
        self.group = group
        task = Task(executorPreference: ThreadExecutor()) { try await group.run() }
    }

    /// Drains the worker and waits for its end.
    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await task.value
    }
}
