import BrokerClient
import Dispatch
import EventLoop
import Logging
import PushModel
import RabbitMQ
import Synchronization
import Topology
import WorkerSettings

/// Publishes what a worker tells operators of itself, for `martlet status`, and workers that start.
///
/// It has a thread and a connection of its own, so it never delays a job. A worker that cannot publish its reports
/// works as well without.
final class WorkerReporter: Sendable {
    /// The time between two reports: the shorter one for those who watch, the longer one where reports cost much.
    static let intervals = Duration.seconds(2)...Duration.seconds(10)
    /// How much a worker may write per second, in bytes: the broker keeps five minutes of all workers' reports.
    static let bytesPerSecond = 2_048
    /// How many workers may report per second where each of them reads what all report (`share: auto`).
    static let workersPerSecond = 5
    /// The longest wait before it looks at the time again, and answers heartbeats.
    private static let step = Duration.seconds(1)
    /// How long the broker may take to take a report. A worker that stops waits no longer.
    private static let patience = Duration.seconds(2)
    /// How many reports may be unconfirmed.
    private static let window = 8
    /// The waits after a lost connection. They are long, because the lane needs the broker more.
    private static var lost: Backoff { Backoff(base: .seconds(5), cap: .seconds(60)) }
    /// The waits after a refusal. They are longer: the broker writes each refusal into its log.
    private static var refused: Backoff { Backoff(base: .seconds(60), cap: .seconds(600)) }

    private struct State {
        var isOnline = false
        var isStopping = false
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let instance: String
    private let broker: BrokerConfiguration
    private let isWorking: @Sendable () -> Bool
    private let logger: Logger
    private let state = Mutex(State())
    private let end = DispatchSemaphore(value: 0)

    /// Prepares a reporter; `run(asking:holding:readers:)` does the work.
    ///
    /// - Parameters:
    ///   - instance: The worker's name.
    ///   - broker: How the broker is reached.
    ///   - isWorking: Whether the lane reaches the broker and may publish. Only then a connection is opened: the
    ///     lane needs the broker more.
    ///   - logger: Where it says what it sees.
    init(
        _ instance: String, broker: BrokerConfiguration, isWorking: @escaping @Sendable () -> Bool, logger: Logger
    ) {
        self.instance = instance
        self.broker = broker
        self.isWorking = isWorking
        self.logger = logger
    }

    /// How long a worker waits after a report.
    ///
    /// - Parameters:
    ///   - bytes: How long the report was. A report of many routes is long, and comes less often.
    ///   - readers: How many workers read every report. All of them report, so what they read together grows with the
    ///     square of their number.
    static func interval(bytes: Int, readers: Int) -> Duration {
        let wanted = max(
            Duration.seconds(bytes) / bytesPerSecond, Duration.seconds(readers) / workersPerSecond)
        return min(max(wanted, intervals.lowerBound), intervals.upperBound)
    }

    /// Ends `run(asking:holding:readers:)` after a last report.
    func stop() {
        let isOnline = state.withLock { state in
            state.isStopping = true
            return state.isOnline
        }
        end.signal()
        // A broker that is being connected to may take its time, and nothing is lost without the last report.
        if !isOnline { ended() }
    }

    /// Waits until the last report was published, or cannot be.
    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if isOver { continuation.resume() }
        }
    }

    private func ended() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Reports until `stop()`; blocks the calling thread.
    ///
    /// - Parameters:
    ///   - source: Gives the report of this moment; it is told whether the worker stops.
    ///   - holding: Names the routes whose results say `hold`. Where these become others, a report follows at once,
    ///     because a worker that starts begins from it.
    ///   - readers: Tells how many workers read every report. Each of them reports too.
    func run(asking source: (Bool) -> WorkerReport, holding: () -> Set<String>, readers: () -> Int) {
        var lost = Self.lost
        var refused = Self.refused
        var random = Randomness()
        while !isStopping {
            guard isWorking() else {
                pause(Self.step)
                continue
            }
            let start = MonotonicTime.now()
            do throws(AMQPError) {
                try tell(source, holding, readers)
            } catch {
                logger.debug("no reports for operators", metadata: .with([.error: "\(error.message)"]))
                lost.ended(after: .now() - start)
                let isRefused = error.replyCode == 403 || error.replyCode == 404
                if !isStopping { pause(isRefused ? refused.next(using: &random) : lost.next(using: &random)) }
            }
        }
        ended()
    }

    private func pause(_ duration: Duration) {
        _ = end.wait(timeout: .now() + .nanoseconds(Int(duration.clampedNanoseconds)))
    }

    /// Connects, and reports until the worker stops.
    private func tell(
        _ source: (Bool) -> WorkerReport, _ holding: () -> Set<String>, _ readers: () -> Int
    ) throws(AMQPError) {
        let client = try connect()
        state.withLock { $0.isOnline = true }
        defer {
            client.close()
            state.withLock { $0.isOnline = false }
            if isStopping { ended() }
        }
        var nextReport = MonotonicTime.now()
        var told: Set<String> = []
        while true {
            let (isStopping, held) = (isStopping, holding())
            if isStopping || held != told || MonotonicTime.now() >= nextReport {
                let length = try publish(source(isStopping), by: client)
                nextReport = .now() + Self.interval(bytes: length, readers: readers())
                told = held
            }
            guard !isStopping else { return }
            // This read also answers the heartbeats.
            for outcome in try client.takeOutcomes() where outcome.result != .confirmed {
                throw AMQPError(.refused, "the broker has no queue for reports", replyCode: 404)
            }
            pause(Self.step)
        }
    }

    /// Connects to any of the brokers, as the lane does.
    private func connect() throws(AMQPError) -> AMQPBlockingClient {
        let targets = try BrokerSearch.targets(of: broker, step: Self.step) { !isStopping }
        return try AMQPBlockingClient.connectToPublish(
            to: targets, clientName: "\(instance) reports", patience: Self.patience)
    }

    /// Publishes a report.
    ///
    /// - Returns: Its length in bytes.
    private func publish(_ report: WorkerReport, by client: AMQPBlockingClient) throws(AMQPError) -> Int {
        let body = report.json
        var message = OutgoingMessage()
        message.setExchange(TopologyNames.fleet.utf8Span.span)
        message.setContentType(MessageName.jsonContentType)
        message.setType(WorkerReport.messageType.utf8Span.span)
        // The broker returns a report that nobody can read.
        message.isMandatory = true
        message.setMessageID("\(report.sentAt)".utf8Span.span)
        message.setBody(body.span)
        _ = try client.submit(message, window: Self.window)
        return body.count
    }
}
