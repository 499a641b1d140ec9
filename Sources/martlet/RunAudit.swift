import EventLoop
import Histogram
import LocalStack
import PushModel
import RabbitMQ
import Synchronization

/// Reads everything a run reports, as monitoring would, and keeps the ledger of it.
///
/// One thread with its own connection per queue; readers take a copy of the state at any time.
final class RunAudit: Sendable {
    /// What was read so far.
    struct State: Sendable {
        /// Who was promised what, and what became of it.
        var ledger = RunLedger()
        /// Final reports by outcome and reason.
        var outcomes: [String: Int] = [:]
        /// Milliseconds from queueing to the final report.
        var latency = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        /// Results that belong to a job delivered before.
        var redelivered = 0
        /// Dead letters by the queue they were in.
        var deadLetters: [String: Int] = [:]
        /// Why reading ended early.
        var failure: String?
    }

    private let state = Mutex(State())
    private let isStopping = Atomic<Bool>(false)
    private let threads = Mutex<[LoopThread]>([])

    /// Starts reading the results and both dead-letter queues of a broker.
    init(_ uri: String) throws {
        for queue in ["apns.q.results", "apns.q.dead", "apns.q.dead.tokens"] {
            let client = try AMQPBlockingClient.connect(try AMQPEndpoint.parse(uri: uri), clientName: "audit \(queue)")
            let thread = try Self.thread(queue: queue, client: client, audit: self)
            threads.withLock { $0.append(thread) }
        }
    }

    /// What was read so far.
    var current: State { state.withLock { $0 } }

    /// Records something that only the caller knows.
    func record(_ body: (inout RunLedger) -> Void) { state.withLock { body(&$0.ledger) } }

    /// Ends reading once the queues have been silent for a moment.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    private static func thread(
        queue: String, client: sending AMQPBlockingClient, audit: RunAudit
    ) throws(EventLoopError) -> LoopThread {
        // The client was made here and goes to the thread whole; `disown` lets its first use there claim it.
        try LoopThread.start(name: "audit") {
            do throws(AMQPError) {
                try audit.read(queue, client)
            } catch {
                audit.state.withLock { $0.failure = error.message }
            }
            client.close()
        }
    }

    private func read(_ queue: String, _ client: AMQPBlockingClient) throws(AMQPError) {
        try client.startConsuming(queue: queue, prefetch: 1_000)
        var unacknowledged = 0
        while true {
            // Short, so that a stop is noticed; once stopping, silence means that everything was read.
            guard let delivery = try client.receive(timeout: .milliseconds(200)) else {
                if isStopping.load(ordering: .acquiring) { return }
                continue
            }
            if queue == "apns.q.results" { takeResult(delivery) } else { takeDeadLetter(delivery, from: queue) }
            unacknowledged += 1
            if unacknowledged >= 100 || !client.hasReceived {
                try client.acknowledge(delivery, multiple: true)
                unacknowledged = 0
            }
        }
    }

    private func takeResult(_ delivery: Delivery) {
        let message = BrokerMessage(delivery)
        guard let result = ResultRecord.parse(Array(delivery.bytes[delivery.body])), let job = result.jobID else { return }
        state.withLock { state in
            state.ledger.reported(
                RunLedger.Key(job: job, index: result.index), attempt: result.attempt ?? 1,
                messageID: message.messageID, isAccepted: result.outcome == Outcome.accepted.rawValue,
                isRedelivered: result.redelivered == true, apnsID: result.apnsID)
            let kind = result.reason.map { "\(result.outcome) \($0)" } ?? result.outcome
            state.outcomes[kind, default: 0] += 1
            if result.redelivered == true { state.redelivered += 1 }
            let total = (result.queueMilliseconds ?? 0) + (result.apnsMilliseconds ?? 0)
            _ = state.latency.record(UInt64(max(0, total)))
        }
    }

    private func takeDeadLetter(_ delivery: Delivery, from queue: String) {
        let message = BrokerMessage(delivery)
        state.withLock { state in
            state.deadLetters[queue, default: 0] += 1
            // One without our outcome was written by the broker: it is final, and has no result.
            guard !message.headers.contains(where: { $0.name == "x-apns-outcome" }) else { return }
            state.ledger.deadLettered(RunLedger.Key(job: message.messageID, index: 0))
        }
    }
}
