internal import APNSClient
internal import EventLoop
package import Logging
internal import PushModel
internal import RabbitMQ
internal import ServiceLifecycle
internal import TLS

/// Why a worker could not be put together from a configuration that reads well; always a matter for a person.
package struct WorkerError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, where, and what to do.
    package let message: String

    package var description: String { message }
}

/// The worker: lanes that push, seen from the ordinary side of the process.
///
/// It never ends because a broker or APNs cannot be reached.
package final class Worker: Sendable {
    /// What each lane is told, and its outside.
    let lanes: [(settings: LaneSettings, handle: LaneHandle)]
    /// The worker's name.
    let instance: String
    /// When the worker was put together.
    let startedAt = MonotonicTime.now()
    private let grace: Duration
    private let logger: Logger

    /// Puts a worker together; nothing is started or connected yet.
    ///
    /// - Throws: `WorkerError` for a key or certificate that cannot be used, or a broker URI that cannot be read.
    package init(
        configuration: WorkerConfiguration, version: String, logger: Logger
    ) throws(WorkerError) {
        self.logger = logger
        instance = configuration.instance
        grace = configuration.shutdownGrace
        lanes = try WorkerBuilder(configuration: configuration, version: version).lanes().map { ($0, LaneHandle()) }
    }

    /// Starts the lanes and waits until they have drained, which they begin to do when a graceful shutdown of the task
    /// is asked for.
    package func run() async throws {
        for lane in lanes {
            let (settings, handle, logger) = (lane.settings, lane.handle, logger)
            _ = try LoopThread.start(name: "martlet-lane-\(settings.index)") {
                do throws(EventLoopError) {
                    try Lane(settings: settings, handle: handle, logger: logger).run()
                } catch {
                    logger.critical("a lane cannot start", metadata: ["error": "\(error.message)"])
                    handle.ended(isDrained: true)
                }
            }
        }
        await withGracefulShutdownHandler {
            for lane in lanes { await lane.handle.waitUntilEnded() }
        } onGracefulShutdown: {
            self.drain()
        }
    }

    private func drain() {
        logger.info("draining", metadata: ["grace": "\(grace)"])
        // A second is kept for closing connections.
        let deadline = MonotonicTime.now().adding(max(.seconds(1), grace - .seconds(1)))
        for lane in lanes { lane.handle.post(.drain(deadline: deadline)) }
    }

    /// Whether every lane ended with nothing left in flight.
    package var isDrained: Bool { lanes.allSatisfy { $0.handle.isDrained } }
}
