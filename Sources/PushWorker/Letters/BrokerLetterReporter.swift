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
///   other.
/// - If the broker refuses results, for instance because one app's queue of results is full, the letters of that app wait
///   (`RefusedLetters`), and those of other apps go on.
/// - If the broker closes the connection because it cannot deliver a letter, the reporter reads one letter at a time from
///   then on, so that all letters before that one get their results.
/// - It has a thread and connections of its own, so it never delays a job. A worker whose broker lacks the queue works
///   as well without.
final class BrokerLetterReporter: Sendable {
    /// How many results may be unconfirmed.
    private static let window = 1_000
    /// How many replies may be unconfirmed. They are few, because each may take the broker long.
    private static let replyWindow = 16
    /// The longest wait before it looks whether it is to stop, and answers heartbeats.
    private static let step = Duration.seconds(1)
    /// How long the broker may take to answer.
    private static let patience = Duration.seconds(5)
    /// The waits after a lost connection. They are long, because the lane needs the broker more.
    private static var lost: Backoff { Backoff(base: .seconds(5), cap: .seconds(60)) }
    /// The waits after an error 403 or 404. They are longer: the broker writes each of these into its log.
    private static var forbidden: Backoff { Backoff(base: .seconds(60), cap: .seconds(600)) }

    /// What keeps jobs from having results, and what a person is told of it.
    enum Trouble: String {
        /// The queue of letters, or the exchange of results, is missing or forbidden.
        case forbidden = "jobs that RabbitMQ ends in their queues get no results: run martlet topology apply"
        /// The broker does not take a result, for instance because a queue of results is full.
        case refused = "some jobs that RabbitMQ ended in their queues have no results yet: the broker refuses results"
        /// The broker fails when it delivers a letter.
        case undeliverable = "jobs that RabbitMQ ended have no results: it cannot deliver one of its letters"

        /// Nil for an error that a new connection may mend.
        init?(_ error: AMQPError) {
            switch error.replyCode {
            case 403, 404: self = .forbidden
            // INTERNAL_ERROR: RabbitMQ 4 answers so if it cannot turn an AMQP 1.0 message into one of AMQP 0-9-1.
            case 541: self = .undeliverable
            default: return nil
            }
        }

        /// Whether it is over once the broker has no letter to deliver. Refused results may be of letters that wait here.
        var endsWithTheLetters: Bool { self != .refused }

        /// How to get past it; nil where the trouble says so, or a wait helps.
        var remedy: String? {
            guard self == .undeliverable else { return nil }
            return "empty the queue of copies, and the jobs in it get no results: rabbitmqctl purge_queue -p VHOST "
                + "\(TopologyNames.brokerLettersQueue). The letters stay in \(TopologyNames.deadQueue), where martlet dead "
                + "cannot list the one that RabbitMQ cannot deliver, nor those behind it"
        }
    }

    /// What the thread knows from one connection to the next.
    struct Progress {
        var writer: BrokerLetterWriter
        var refused = RefusedLetters()
        /// What a person was told; nil for nothing.
        var told: Trouble?
        /// How many letters the broker hands out ahead: ten beside those that wait because results were refused.
        private(set) var prefetch = UInt16(RefusedLetters.most + 10)
        var random = Randomness()

        /// The connection is gone. If the broker failed when it delivered a letter, letters are read one at a time from
        /// now on.
        ///
        /// - Returns: What keeps jobs from having results; nil where a new connection may mend it.
        mutating func connectionLost(over error: AMQPError) -> Trouble? {
            refused.connectionLost()
            let trouble = Trouble(error)
            if trouble == .undeliverable { prefetch = 1 }
            return trouble
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
    ///   - settings: What the lane is told: how results look, and which replies are allowed.
    ///   - isWorking: Whether the lane reaches the broker and may publish. Only then a connection is opened: the
    ///     lane needs the broker more.
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
        var progress = Progress(writer: BrokerLetterWriter(settings))
        while !isStopping {
            guard isWorking() else {
                pause(Self.step)
                continue
            }
            let start = MonotonicTime.now()
            let couldWrite = progress.writer.mayWriteToQueues
            do throws(AMQPError) {
                try follow(&progress)
            } catch {
                let trouble = progress.connectionLost(over: error)
                lost.ended(after: .now() - start)
                forbidden.ended(after: .now() - start)
                // The letter comes again at once, and is reported without the reply that was refused.
                if couldWrite, !progress.writer.mayWriteToQueues { continue }
                tell(trouble, error, &progress)
                if !isStopping {
                    let wait =
                        trouble == .forbidden
                        ? forbidden.next(using: &progress.random) : lost.next(using: &progress.random)
                    pause(wait)
                }
            }
        }
    }

    private func tell(_ trouble: Trouble?, _ error: AMQPError, _ progress: inout Progress) {
        var metadata = Logger.Metadata.with([
            .queue: "\(TopologyNames.brokerLettersQueue)", .error: "\(error.message)",
        ])
        metadata[LogKey.detail.rawValue] = trouble?.remedy.map { .string($0) }
        logger.log(
            level: trouble == nil || trouble == progress.told ? .debug : .warning,
            "\(trouble?.rawValue ?? "the connection that reports jobs that RabbitMQ ended was lost")",
            metadata: metadata)
        progress.told = trouble ?? progress.told
    }

    private func tellEnd(_ progress: inout Progress) {
        guard progress.told != nil else { return }
        progress.told = nil
        logger.notice("jobs that RabbitMQ ends in their queues have results again")
    }

    /// Connects, and reports until the worker stops or the connection fails.
    private func follow(_ progress: inout Progress) throws(AMQPError) {
        let targets = try BrokerSearch.targets(of: settings.broker, step: Self.step) { !isStopping }
        let client = try AMQPBlockingClient.connect(
            to: targets, clientName: "\(settings.instance) letters", bodyLimit: JobDecoder.maximumBodyLength,
            patience: Self.patience)
        defer { client.close() }
        let provesDeaths = client.brokerVersion?.provesDeaths ?? false
        let trusted = settings.jobsFrom.map { Array($0.utf8) }
        try client.startConsuming(queue: TopologyNames.brokerLettersQueue, prefetch: progress.prefetch)
        while !isStopping {
            for tag in progress.refused.takeDue(now: .now()) { try client.giveBack(tag) }
            guard let delivery = try client.receive(timeout: Self.step) else {
                // Nothing waits for its results here.
                if progress.told?.endsWithTheLetters == true { tellEnd(&progress) }
                // This answers the heartbeats of the connection that publishes.
                _ = try client.takeOutcomes()
                continue
            }
            let letter = BrokerLetter(
                delivery, trusting: trusted, provesDeaths: provesDeaths, now: WallClock.milliseconds())
            if let letter {
                guard try settle(letter, delivery.deliveryTag, &progress, by: client) else { continue }
            }
            try client.acknowledge(delivery)
        }
    }

    /// Reports a letter, unless its app waits because results were refused.
    ///
    /// - Returns: Whether the letter is done; false where it stays unacknowledged.
    private func settle(
        _ letter: BrokerLetter, _ tag: UInt64, _ progress: inout Progress, by client: AMQPBlockingClient
    ) throws(AMQPError) -> Bool {
        let app = letter.app
        guard progress.refused.mayTry(app, now: .now()) else {
            progress.refused.putAside(tag, of: app)
            return false
        }
        do throws(AMQPError) {
            // A trial ends with the first result that is refused, so that the other queues get few copies.
            let window = progress.refused.isRefused(app) ? 1 : Self.window
            try report(letter, writer: &progress.writer, window: window, by: client)
        } catch {
            guard error.code == .refused, error.replyCode == nil else {
                // A queue of results may have no leader. The connection cannot be used on, because the answer is
                // missing; on the next one the other letters go first.
                if error.code == .timeout { progress.refused.refused(app, nil, now: .now(), random: &progress.random) }
                throw error
            }
            progress.refused.refused(app, tag, now: .now(), random: &progress.random)
            tell(.refused, error, &progress)
            return false
        }
        for tag in progress.refused.delivered(app) { try client.giveBack(tag) }
        if progress.refused.isEmpty { tellEnd(&progress) }
        return true
    }

    /// Publishes the results of a letter, and waits until the broker has them.
    private func report(
        _ letter: BrokerLetter, writer: inout BrokerLetterWriter, window: Int, by client: AMQPBlockingClient
    ) throws(AMQPError) {
        do throws(AMQPError) {
            try writer.write(letter) { message, isReply throws(AMQPError) in
                let number = try client.submit(message, window: isReply ? Self.replyWindow : window)
                if !isReply, window == 1 { try Self.check(try client.flush()) }
                return number
            } answers: { () throws(AMQPError) in
                try client.flush()
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

    /// - Throws: `refused` without a reply code if the broker did not take a result.
    private static func check(_ outcomes: [(number: UInt64, result: PublishResult)]) throws(AMQPError) {
        for outcome in outcomes where outcome.result != .confirmed {
            throw AMQPError(.refused, "the broker did not take a result: \(outcome.result)")
        }
    }
}
