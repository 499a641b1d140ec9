import BrokerClient
import Dispatch
import EventLoop
import Logging
import PushModel
import RabbitMQ
import Synchronization
import Topology
import WorkerSettings

/// Tells the other workers that this one lives, hears of them, and tells the lane which routes to serve.
///
/// The fleet has a thread and connections of its own, so it never delays a job.
final class Fleet: Sendable {
    /// The longest wait before the fleet looks again at the time, and at whether it must leave.
    private static let step = Duration.milliseconds(250)
    /// How long the broker may take to answer. A worker that leaves does not wait longer than this for an answer.
    private static let patience = Duration.seconds(5)

    /// What a fleet needs from its worker.
    struct Surroundings: Sendable {
        /// How the broker is reached.
        let broker: BrokerConfiguration
        /// The names of all routes at the start, by their numbers.
        let routes: [String?]
        /// Whether a lane reaches the broker and may publish. Only then does the worker report that it lives.
        let isWorking: @Sendable () -> Bool
        /// Tells the lane.
        let announce: @Sendable (LaneMessage) -> Void
    }

    private struct State {
        var status: FleetStatus
        /// The names of all routes, by their numbers.
        var routes: [String?]
        var isOnline = false
        var isLeaving = false
        var hasLeft = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let report: FleetReport
    private let surroundings: Surroundings
    private let logger: Logger
    private let state: Mutex<State>
    private let end = DispatchSemaphore(value: 0)

    /// A member that has not reported yet; `run()` does the work.
    ///
    /// - Parameters:
    ///   - report: What the worker reports.
    ///   - surroundings: What it needs from its worker.
    ///   - logger: Where it says what it sees.
    init(_ report: FleetReport, surroundings: Surroundings, logger: Logger) {
        self.report = report
        self.surroundings = surroundings
        self.logger = logger
        let share = FleetShare(report, routes: surroundings.routes, now: .now())
        state = Mutex(State(status: share.status, routes: surroundings.routes))
    }

    /// The fleet as this worker sees it.
    var status: FleetStatus { state.withLock { $0.status } }

    /// The worker has other routes from now on.
    ///
    /// - Parameter routes: Their names, by their numbers; nil for a number without a route.
    func routesChanged(_ routes: [String?]) { state.withLock { $0.routes = routes } }

    // MARK: The end

    /// Reports that this worker takes no more jobs, if it is connected, and ends `run()`.
    func leave() {
        let isOnline = state.withLock { state in
            state.isLeaving = true
            return state.isOnline
        }
        end.signal()
        if !isOnline { left() }
    }

    /// Waits until the worker has reported that it leaves, or cannot.
    func waitUntilLeft() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasLeft { state.waiters.append(continuation) }
                return state.hasLeft
            }
            if isOver { continuation.resume() }
        }
    }

    private func left() {
        let waiters = state.withLock { state in
            state.hasLeft = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private var isLeaving: Bool { state.withLock { $0.isLeaving } }

    /// Notes whether the worker can publish reports, including the last one before it leaves.
    ///
    /// - Returns: Whether the worker is leaving.
    private func setOnline(_ isOnline: Bool) -> Bool {
        state.withLock { state in
            state.isOnline = isOnline
            return state.isLeaving
        }
    }

    // MARK: The thread

    /// Reports and listens until `leave()`; blocks the calling thread.
    func run() {
        var teller = Teller(
            FleetShare(report, routes: surroundings.routes, now: .now()), surroundings.routes)
        var unreachable = Backoff.broker
        var refused = Backoff.queue
        var random = Randomness()
        while !isLeaving {
            let start = MonotonicTime.now()
            var isRefused = false
            do throws(AMQPError) {
                try meet(&teller)
            } catch {
                isRefused = error.replyCode == 403 || error.replyCode == 404
                teller.share.failed(error.message, isRefused: isRefused, now: .now())
                logger.debug("no reports of other workers", metadata: .with([.error: "\(error.message)"]))
            }
            unreachable.ended(after: .now() - start)
            refused.ended(after: .now() - start)
            let wait = isRefused ? refused.next(using: &random) : unreachable.next(using: &random)
            pause(until: .now() + wait, &teller)
        }
        left()
    }

    /// Waits without a connection.
    private func pause(until deadline: MonotonicTime, _ teller: inout Teller) {
        while MonotonicTime.now() < deadline, !isLeaving {
            tell(&teller)
            _ = end.wait(timeout: .now() + .nanoseconds(Int(Self.step.clampedNanoseconds)))
        }
    }

    /// Connects, and reports and listens until the worker leaves.
    private func meet(_ teller: inout Teller) throws(AMQPError) {
        let client = try connect(&teller)
        defer {
            // The caller of `waitUntilLeft()` need not wait until the connection is closed.
            if setOnline(false) { left() }
            client.close()
        }
        // Reads from the end of the stream on, because older reports say nothing about now.
        try client.startConsuming(queue: TopologyNames.fleetQueue)
        teller.share.connected()
        var nextReport = MonotonicTime.now()
        while !setOnline(true) {
            if MonotonicTime.now() >= nextReport, surroundings.isWorking() {
                try publish(report, by: client)
                teller.share.reported(now: .now())
                nextReport = .now() + FleetMembership.reportInterval
            }
            try listen(client, &teller.share)
            // This read also answers the heartbeats of the publishing connection, which nothing else reads.
            _ = try client.takeOutcomes()
            tell(&teller)
        }
        var last = report
        last.isLeaving = true
        try publish(last, by: client)
    }

    /// Connects to any of the brokers, as the lane does. While a name service hangs, the lane is still told which
    /// routes to serve.
    private func connect(_ teller: inout Teller) throws(AMQPError) -> AMQPBlockingClient {
        let targets = try BrokerSearch.targets(of: surroundings.broker, step: Self.step) {
            tell(&teller)
            return !isLeaving
        }
        return try AMQPBlockingClient.connect(
            to: targets, clientName: "\(report.instance) fleet", bodyLimit: FleetReport.maximumLength,
            patience: Self.patience)
    }

    private func publish(_ report: FleetReport, by client: AMQPBlockingClient) throws(AMQPError) {
        var message = OutgoingMessage()
        message.setExchange(TopologyNames.fleet.utf8Span.span)
        message.setContentType(MessageName.jsonContentType)
        // The broker returns a report that reaches no queue.
        message.isMandatory = true
        message.setMessageID("report".utf8Span.span)
        message.setBody(report.json.span)
        switch try client.publishConfirmed(message) {
        case .confirmed: break
        case .nacked: throw AMQPError(.refused, "the broker refused a report to \(TopologyNames.fleet)")
        case .returned(let why):
            throw AMQPError(.refused, "a report to \(TopologyNames.fleet) came back: \(why)", replyCode: 404)
        }
    }

    /// Waits up to `step` for a report, and takes all reports that have arrived by then.
    private func listen(_ client: AMQPBlockingClient, _ share: inout FleetShare) throws(AMQPError) {
        guard var delivery = try client.receive(timeout: Self.step) else { return }
        while true {
            if !WorkerReport.isCarried(by: delivery) {
                share.heard(
                    delivery.isTruncated ? nil : FleetReport(parsing: Array(delivery.bytes[delivery.body])), now: .now()
                )
            }
            guard client.hasReceived, let next = try client.receive(timeout: .zero) else { break }
            delivery = next
        }
        try client.acknowledge(delivery, multiple: true)
    }

    // MARK: What others are told

    /// The share as decided, as told to the lane, and as logged.
    private struct Teller {
        var share: FleetShare
        var told: ServedRoutes?
        var logged: FleetStatus?
        var routes: [String?]

        init(_ share: FleetShare, _ routes: [String?]) {
            self.share = share
            self.routes = routes
        }
    }

    /// Decides, and tells the lane and the log what is new.
    private func tell(_ teller: inout Teller) {
        let routes = state.withLock { $0.routes }
        if routes != teller.routes {
            teller.routes = routes
            teller.share.routesChanged(routes)
            // The lane may have been told of a number that is another route's now.
            teller.told = nil
        }
        let served = teller.share.decide(now: .now(), isWorking: surroundings.isWorking())
        if served != teller.told {
            teller.told = served
            surroundings.announce(.served(served))
        }
        let status = teller.share.status
        state.withLock { $0.status = status }
        guard status.workers != teller.logged?.workers || status.detail != teller.logged?.detail else { return }
        let wasBlind = teller.logged.map { $0.detail != nil && !$0.isUndecided } ?? false
        teller.logged = status
        if let blindness = teller.share.blindness {
            logger.warning(
                "the other workers cannot be seen: every route is served", metadata: .with([.error: "\(blindness)"]))
        } else if !status.isUndecided {
            let metadata = Logger.Metadata.with([
                .count: "\(status.workers)",
                .detail: "\(teller.share.assignedCount) of \(routes.count { $0 != nil }) routes are this worker's",
            ])
            logger.log(level: wasBlind ? .notice : .info, "the fleet's workers share the routes", metadata: metadata)
        }
    }
}
