import EventLoop
import Glibc
package import Logging
import ServiceLifecycle
import Synchronization

/// Tells the service manager that started the process how the worker is doing: the messages of systemd's `Type=notify`
/// and `WatchdogSec`.
package final class ServiceManagerLink: Service {
    /// The longest time between two looks at the worker.
    static let interval = Duration.seconds(1)

    private struct State {
        var report: ServiceManagerReport
        /// Whether the last message could not be sent, so that one outage is one line of the log.
        var isUnheard = false
    }

    private let address: ServiceManagerAddress
    private let look: @Sendable () -> ServiceManagerReport.Look
    private let logger: Logger
    private let state: Mutex<State>

    /// Prepares a link; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - worker: The worker to look at.
    ///   - heartbeat: The broker's heartbeat. It decides how long the lane may stand still.
    ///   - environment: The process's variables.
    ///   - logger: Where it says that the service manager cannot be told.
    /// - Returns: Nil where no service manager wants to be told.
    package convenience init?(
        worker: Worker, heartbeat: Duration, environment: [String: String], logger: Logger
    ) {
        guard let address = ServiceManagerAddress(environment, processID: getpid()) else { return nil }
        let patience = LaneProgress.patience(heartbeat: heartbeat)
        self.init(address, logger: logger) {
            ServiceManagerReport.Look(
                hasStarted: worker.hasStarted, isAlive: worker.progress()?.isMoving(within: patience) ?? true,
                reasons: worker.readiness().reasons)
        }
    }

    /// Prepares a link to an address.
    ///
    /// - Parameters:
    ///   - address: Where the service manager listens.
    ///   - logger: Where it says that the service manager cannot be told.
    ///   - look: Looks at the worker.
    init(
        _ address: ServiceManagerAddress, logger: Logger, look: @escaping @Sendable () -> ServiceManagerReport.Look
    ) {
        self.address = address
        self.look = look
        self.logger = logger
        state = Mutex(State(report: ServiceManagerReport(watchdog: address.watchdog)))
    }

    /// Looks at the worker until the process ends. It is the first service to start, so it is the last to stop.
    package func run() async throws {
        // At least four looks in the watchdog's time. A sign of life is due every half of that time, and so is never
        // late.
        let pause = address.watchdog.map { min($0 / 4, Self.interval) } ?? Self.interval
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            tell()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
        }
        stop()
    }

    /// Does what SIGHUP asks for, and tells when it begins and that it is done.
    package func reload(_ work: () -> Void) {
        tell { $0.beginReload(at: .now()) }
        work()
        state.withLock { $0.report.endReload() }
        tell()
    }

    /// Tells that the worker begins to end.
    package func stop() { tell { $0.stop() } }

    /// Looks at the worker and tells what is new.
    func tell() {
        let look = look()
        tell { $0.next(look, at: .now()) }
    }

    /// Sends the message that a report decides on. If the message cannot be sent, the report stays as it was, and
    /// decides anew at the next look.
    private func tell(_ decide: (inout ServiceManagerReport) -> ServiceManagerMessage?) {
        state.withLock { state in
            var report = state.report
            guard let message = decide(&report) else { return state.report = report }
            do throws(EventLoopError) {
                try UnixDatagram.send(message.text, to: address.socket)
                state.report = report
                state.isUnheard = false
            } catch {
                if !state.isUnheard {
                    logger.warning(
                        "the service manager cannot be told how the worker is doing",
                        metadata: .with([.error: "\(error.message)"]))
                }
                state.isUnheard = true
            }
        }
    }
}
