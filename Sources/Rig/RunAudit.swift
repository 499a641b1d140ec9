import BrokerClient
import EventLoop
package import Histogram
import PushModel
package import RabbitMQ
import Synchronization
import Text
import Topology

/// Reads everything that a run reports, as monitoring would, and keeps the ledger of the run.
///
/// Each queue has one thread with its own connection. The state can be read at any time.
package final class RunAudit: Sendable {
    /// Where reports are read.
    package enum Source: Sendable {
        /// From the real queues, which are empty afterwards.
        case queues
        /// From queues of its own that get copies. The real queues keep everything for others.
        case taps
    }

    /// What was read so far.
    package struct State: Sendable {
        /// Which notifications were promised, and how they ended.
        package var ledger = RunLedger()
        /// Notifications by the outcome and reason of their first final report.
        package var outcomes: [ResultRecord.Kind: Int] = [:]
        /// Milliseconds from queueing to the first final report.
        package var latency = State.histogram()
        /// Milliseconds that APNs took to answer.
        package var answers = State.histogram()
        /// Results that belong to a job delivered before.
        package var redelivered = 0
        /// Results that a worker gave from memory, without another push.
        package var suppressed = 0
        /// Notifications that were final after one attempt, without those of paced jobs.
        package var firstAttempts = 0
        /// When the first and the last of ``firstAttempts`` were final, in milliseconds since 1970.
        package var firstAttemptSpan: ClosedRange<Int64>?
        /// Jobs that were published slowly on purpose: they say nothing about throughput.
        package var paced: Set<String> = []
        /// Dead letters by the queue they were in.
        package var deadLetters: [String: Int] = [:]
        /// An app that is left out of the results; nil for none.
        package var ignoredTopic: String?
        /// Why reading ended early.
        package var failure: String?

        /// Nothing was read yet.
        package init() {}

        /// The longest time that is told apart is 1 day, in milliseconds.
        private static func histogram() -> Histogram<UInt64> {
            Histogram(highestTrackableValue: 86_400_000, numberOfSignificantValueDigits: .two)
        }
    }

    private let state = Mutex(State())
    private let isStopping = Atomic<Bool>(false)
    private let threads = Mutex<[LoopThread]>([])
    private let onChange: @Sendable () -> Void
    private let onDelivery: @Sendable (Delivery) -> Void

    /// An audit that reads nothing yet.
    ///
    /// - Parameters:
    ///   - onChange: Called on the reading threads after a batch was read, and when reading fails.
    ///   - onDelivery: Called on the reading threads with each message.
    package init(
        onChange: @escaping @Sendable () -> Void = {}, onDelivery: @escaping @Sendable (Delivery) -> Void = { _ in }
    ) {
        self.onChange = onChange
        self.onDelivery = onDelivery
    }

    /// Starts reading at once.
    ///
    /// - Parameters:
    ///   - uri: The broker.
    ///   - source: Where to read.
    ///   - onChange: Called on the reading threads after a batch was read, and when reading fails.
    /// - Throws: `AMQPError` when a queue cannot be read.
    package convenience init(
        _ uri: String, reading source: Source = .queues, onChange: @escaping @Sendable () -> Void = {}
    ) throws {
        self.init(onChange: onChange)
        try read(uri, from: source)
    }

    /// Starts reading the results and both dead-letter queues of a broker. Blocks for a moment, because it connects.
    ///
    /// After `stop()` it may read again. The new reports are added to the old ones.
    ///
    /// - Parameters:
    ///   - uri: The broker.
    ///   - source: Where to read; taps must be there before the first job is published.
    /// - Throws: `AMQPError` when a queue cannot be read.
    package func read(_ uri: String, from source: Source) throws {
        isStopping.store(false, ordering: .releasing)
        let queues =
            switch source {
            case .queues: [TopologyNames.resultsQueue, TopologyNames.deadQueue, TopologyNames.deadTokensQueue]
            case .taps: [TopologyNames.results, TopologyNames.dead]
            }
        do {
            for name in queues {
                let client = try AMQPBlockingClient.connect(
                    try AMQPEndpoint.parse(uri: uri), clientName: "audit \(name)")
                var queue = name
                if source == .taps {
                    queue = try client.declareQueue(
                        TopologyNames.tapQueue(user: "guest", id: JobIdentifier.new()), exclusive: true)
                    try client.bind(queue: queue, exchange: name, routingKey: "#")
                }
                try client.startConsuming(queue: queue, prefetch: 1_000)
                let isResults = name == TopologyNames.results || name == TopologyNames.resultsQueue
                let thread = try Self.thread(client, takesResults: isResults, audit: self)
                threads.withLock { $0.append(thread) }
            }
        } catch {
            stop()
            throw error
        }
    }

    /// A copy of what was read so far. A live view should use `look`, because copying a large ledger takes time.
    package var current: State { state.withLock { $0 } }

    /// Looks at what was read so far, without a copy.
    package func look<Value: Sendable>(_ body: (borrowing State) -> Value) -> Value { state.withLock { body($0) } }

    /// Records something that only the caller knows.
    package func record(_ body: (inout RunLedger) -> Void) { state.withLock { body(&$0.ledger) } }

    /// Notes that a job is published slowly on purpose. Call this before the job is published.
    ///
    /// - Parameter job: Its id.
    package func paces(_ job: String) { state.withLock { _ = $0.paced.insert(job) } }

    /// Leaves an app out: its results and its pushes do not count. A second call replaces the app.
    package func ignore(_ topic: String) { state.withLock { $0.ignoredTopic = topic } }

    /// Ends reading once the queues have been silent for 200 ms; blocks until then.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        for thread in threads.withLock({ $0 }) { thread.join() }
        threads.withLock { $0 = [] }
    }

    private static func thread(
        _ client: sending AMQPBlockingClient, takesResults: Bool, audit: RunAudit
    ) throws(EventLoopError) -> LoopThread {
        // The client is made on this thread, but used only on the new one, which takes it over at the first use.
        client.disown()
        return try LoopThread.start(name: "audit") {
            do throws(AMQPError) {
                try audit.read(client, takesResults: takesResults)
            } catch {
                audit.state.withLock { $0.failure = error.message }
                audit.onChange()
            }
            client.close()
        }
    }

    private func read(_ client: AMQPBlockingClient, takesResults: Bool) throws(AMQPError) {
        var unacknowledged = 0
        while true {
            // A short timeout, so that a stop is noticed. After a stop, silence means that everything was read.
            guard let delivery = try client.receive(timeout: .milliseconds(200)) else {
                if isStopping.load(ordering: .acquiring) { return }
                continue
            }
            onDelivery(delivery)
            if takesResults { takeResult(delivery) } else { takeDeadLetter(delivery) }
            unacknowledged += 1
            if unacknowledged >= 100 || !client.hasReceived {
                try client.acknowledge(delivery, multiple: true)
                unacknowledged = 0
                onChange()
            }
        }
    }

    private func takeResult(_ delivery: Delivery) {
        let results = ReceivedResult.read(BrokerMessage(delivery))
        guard !results.isEmpty else {
            return state.withLock { $0.failure = "a message in the results is not a result" }
        }
        for received in results { take(received.record, messageID: received.messageID) }
    }

    private func take(_ result: ResultRecord, messageID: String) {
        guard let job = result.jobID else {
            return state.withLock { $0.failure = "a result names no job" }
        }
        state.withLock { state in
            guard result.topic == nil || result.topic != state.ignoredTopic else { return }
            let isFirst = state.ledger.reported(
                RunLedger.Key(job: job, index: result.index), attempt: result.attempt ?? 1, messageID: messageID,
                ending: Self.ending(result.outcome), isRedelivered: result.redelivered == true, apnsID: result.apnsID)
            if result.redelivered == true { state.redelivered += 1 }
            if result.duplicate == "suppressed" { state.suppressed += 1 }
            if isFirst { state.count(result) }
        }
    }

    private func takeDeadLetter(_ delivery: Delivery) {
        let message = BrokerMessage(delivery)
        let isToken = message.routingKey.hasPrefix("\(Outcome.deadToken.rawValue).")
        let queue = isToken ? TopologyNames.deadTokensQueue : TopologyNames.deadQueue
        state.withLock { state in
            state.deadLetters[queue, default: 0] += 1
            // A dead letter without our outcome was written by the broker: it is final. Its result may follow later.
            state.ledger.deadLettered(
                job: message.messageID, indexes: Self.indexes(message.header(HeaderName.indexes)),
                isBrokers: message.header(HeaderName.outcome) == nil)
        }
    }

    private static func ending(_ outcome: String) -> RunLedger.Ending {
        switch outcome {
        case Outcome.accepted.rawValue: .accepted
        case Outcome.unknown.rawValue: .unknown
        case Outcome.cancelled.rawValue: .cancelled
        default: .failed
        }
    }

    /// The positions that a header lists; nil for all.
    private static func indexes(_ header: String?) -> [Int]? {
        let limit = Job.maximumTokens
        return header.flatMap { IndexRanges.parse(Array($0.utf8).span, limit: limit) }.map { ranges in
            (0..<limit).filter(ranges.contains)
        }
    }
}

extension RunAudit.State {
    /// Notes from queueing to the first final report.
    ///
    /// - Parameter milliseconds: How long it took.
    package mutating func took(_ milliseconds: Int64) { _ = latency.record(UInt64(clamping: milliseconds)) }

    /// Counts the first final report of a notification.
    fileprivate mutating func count(_ result: ResultRecord) {
        outcomes[result.kind, default: 0] += 1
        if let took = result.apnsMilliseconds { _ = answers.record(UInt64(clamping: took)) }
        guard let finished = result.finishedAt else { return }
        if let queued = result.enqueuedAt { took(finished -| queued) }
        guard result.attempt ?? 1 == 1, !paced.contains(result.jobID ?? "") else { return }
        firstAttempts += 1
        firstAttemptSpan =
            firstAttemptSpan.map { min($0.lowerBound, finished)...max($0.upperBound, finished) } ?? finished...finished
    }
}
