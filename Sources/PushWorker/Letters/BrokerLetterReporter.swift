import BrokerClient
import Dispatch
import EventLoop
import Logging
import PushModel
import RabbitMQ
import Synchronization
import Topology
import WorkerSettings

/// Publishes the results of jobs that RabbitMQ ended in their queues, so that these jobs are accounted for, too.
///
/// - It reads copies of RabbitMQ's dead letters from `apns.q.dead.broker`. The letters themselves stay in
///   `apns.q.dead`.
/// - A copy is acknowledged once the broker has confirmed all results of its job. Letters are taken one after the
///   other, so a letter whose results cannot be published makes no other letter come twice.
/// - It has a thread and connections of its own, so it never delays a job. A worker whose broker lacks the queue works
///   as well without.
final class BrokerLetterReporter: Sendable {
    /// How many letters the broker hands out ahead.
    private static let prefetch: UInt16 = 10
    /// How many results may be unconfirmed.
    private static let window = 1_000
    /// The longest wait before it looks whether it is to stop, and answers heartbeats.
    private static let step = Duration.seconds(1)
    /// How long the broker may take to answer.
    private static let patience = Duration.seconds(5)
    /// The waits after a lost connection. They are long, because lanes need the broker more.
    private static var lost: Backoff { Backoff(base: .seconds(5), cap: .seconds(60)) }
    /// The waits after an error 403 or 404. They are longer: the broker writes each of these into its log.
    private static var forbidden: Backoff { Backoff(base: .seconds(60), cap: .seconds(600)) }

    /// What keeps jobs from having results, and what a person is told of it.
    private enum Trouble: String {
        /// The queue of letters, or the exchange of results, is missing or forbidden.
        case forbidden = "jobs that RabbitMQ ends in their queues get no results: run martlet topology apply"
        /// The broker does not take a result, for instance because a queue of results is full.
        case refused = "jobs that RabbitMQ ended in their queues have no results yet: the broker refuses results"

        /// Nil for an error that a new connection may mend.
        init?(_ error: AMQPError) {
            switch error.replyCode {
            case 403, 404: self = .forbidden
            default:
                guard error.code == .refused else { return nil }
                self = .refused
            }
        }
    }

    private struct State {
        var isStopping = false
        var reported: [BrokerLetter.Cause: Int] = [:]
    }

    private let settings: LaneSettings
    private let isWorking: @Sendable () -> Bool
    private let logger: Logger
    private let state = Mutex(State())
    private let end = DispatchSemaphore(value: 0)

    /// Prepares a reporter; `run()` does the work.
    ///
    /// - Parameters:
    ///   - settings: What a lane is told: how results look, and which replies are allowed.
    ///   - isWorking: Whether all lanes reach the broker and one may publish. Only then a connection is opened: lanes
    ///     need the broker more.
    ///   - logger: Where it says that it cannot read, or cannot report a letter.
    init(_ settings: LaneSettings, isWorking: @escaping @Sendable () -> Bool, logger: Logger) {
        self.settings = settings
        self.isWorking = isWorking
        self.logger = logger
    }

    /// How many jobs it reported, by why RabbitMQ ended them.
    var reported: [BrokerLetter.Cause: Int] { state.withLock { $0.reported } }

    /// Ends `run()`; not waited for. Letters whose results are not confirmed stay in their queue.
    func stop() {
        state.withLock { $0.isStopping = true }
        end.signal()
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    private func pause(_ duration: Duration) {
        _ = end.wait(timeout: .now() + .nanoseconds(Int(duration.clampedNanoseconds)))
    }

    /// Reports until `stop()`; blocks the calling thread.
    func run() {
        var (lost, forbidden) = (Self.lost, Self.forbidden)
        var random = SystemRandomNumberGenerator()
        var writer = BrokerLetterWriter(settings)
        var told: Trouble?
        while !isStopping {
            guard isWorking() else {
                pause(Self.step)
                continue
            }
            let start = MonotonicTime.now()
            let couldWrite = writer.mayWriteToQueues
            do throws(AMQPError) {
                try follow(&writer, &told)
            } catch {
                lost.ended(after: .now() - start)
                forbidden.ended(after: .now() - start)
                // The letter comes again at once, and is reported without the reply that was refused.
                if couldWrite, !writer.mayWriteToQueues { continue }
                let trouble = Trouble(error)
                logger.log(
                    level: trouble == nil || trouble == told ? .debug : .warning,
                    "\(trouble?.rawValue ?? "the connection that reports jobs that RabbitMQ ended was lost")",
                    metadata: .with([.queue: "\(TopologyNames.brokerLettersQueue)", .error: "\(error.message)"]))
                told = trouble ?? told
                if !isStopping {
                    pause(trouble == .forbidden ? forbidden.next(using: &random) : lost.next(using: &random))
                }
            }
        }
    }

    private func tellEnd(of told: inout Trouble?) {
        guard told != nil else { return }
        told = nil
        logger.notice("jobs that RabbitMQ ends in their queues have results again")
    }

    /// Connects, and reports until the worker stops or the connection fails.
    private func follow(_ writer: inout BrokerLetterWriter, _ told: inout Trouble?) throws(AMQPError) {
        let targets = try BrokerSearch.targets(of: settings.broker, step: Self.step) { !isStopping }
        let client = try AMQPBlockingClient.connect(
            to: targets, clientName: "\(settings.instance) letters", bodyLimit: JobDecoder.maximumBodyLength,
            patience: Self.patience)
        defer { client.close() }
        try client.startConsuming(queue: TopologyNames.brokerLettersQueue, prefetch: Self.prefetch)
        while !isStopping {
            guard let delivery = try client.receive(timeout: Self.step) else {
                // Nothing waits for its results here.
                if told == .forbidden { tellEnd(of: &told) }
                // This answers the heartbeats of the connection that publishes.
                _ = try client.takeOutcomes()
                continue
            }
            if let letter = BrokerLetter(delivery, now: WallClock.milliseconds()) {
                try report(letter, writer: &writer, by: client)
                tellEnd(of: &told)
            }
            try client.acknowledge(delivery)
        }
    }

    /// Publishes the results of a letter, and waits until the broker has them.
    private func report(
        _ letter: BrokerLetter, writer: inout BrokerLetterWriter, by client: AMQPBlockingClient
    ) throws(AMQPError) {
        do throws(AMQPError) {
            try writer.write(letter) { message, isReply throws(AMQPError) in
                guard isReply else {
                    _ = try client.submit(message, window: Self.window)
                    return .confirmed
                }
                // The answer to a reply is waited for, and would hide the answers to earlier results.
                try Self.check(try client.flush())
                return try client.publishConfirmed(message)
            }
        } catch {
            guard error.code == .invalidMessage else { throw error }
            // It would fail again.
            logger.warning(
                "a job that RabbitMQ ended in its queue gets no result: see martlet dead list",
                metadata: .with([.error: "\(error.message)"]))
        }
        try Self.check(try client.flush())
        state.withLock { $0.reported[letter.cause, default: 0] += 1 }
    }

    /// - Throws: `refused` if the broker did not take a result. Its letter then stays, and is tried again later.
    private static func check(_ outcomes: [(number: UInt64, result: PublishResult)]) throws(AMQPError) {
        for outcome in outcomes where outcome.result != .confirmed {
            throw AMQPError(.refused, "the broker did not take a result: \(outcome.result)")
        }
    }
}
