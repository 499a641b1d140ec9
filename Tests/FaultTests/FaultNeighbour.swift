import APNSSimulator
import BrokerClient
import EventLoop
import Glibc
import LocalStack
import PushModel
import RabbitMQ
import Rig
import Synchronization
import TestSupport
import Topology

/// A healthy route beside those that something happens to: a job every 50 ms, and how long each takes until its result
/// is there.
///
/// It shares the worker and the broker with them, and nothing else: it has a key, a queue and an address of
/// APNs of its own. The run's ledgers do not count it.
final class FaultNeighbour: Sendable {
    /// What came of it.
    struct Measurement: Sendable {
        /// The median before the fault.
        var alone: Duration
        /// The median since then.
        var beside: Duration
        /// What one in twenty took longer than, since then.
        var slowest: Duration
        /// What the slowest of all took since then: the longest time for which it stood still.
        var longest: Duration
        /// How many jobs have no result.
        var missing: Int
        /// Why it came to an end early; nil where it did not.
        var failure: String?

        /// How many times longer it took; what takes less than ``FaultNeighbour/least`` counts as that.
        var ratio: Double { beside / max(alone, FaultNeighbour.least) }
        /// How many times the usual the slowest took: a median does not tell of half a minute's standstill.
        var slowestRatio: Double { slowest / max(alone, FaultNeighbour.least) }
    }

    private struct State {
        var waiting: [String: ContinuousClock.Instant] = [:]
        var times: [(due: ContinuousClock.Instant, took: Duration)] = []
        var tasks: [Task<Void, Never>] = []
        var alone: Duration?
        var faultAt: ContinuousClock.Instant?
        var failure: String?
        var isListening = false
        /// Until when jobs are due; nil for ever.
        var end: ContinuousClock.Instant?
        var isProduced = false
    }

    /// The route.
    static let app = LocalRun.App(
        route: "neighbour", topic: "com.example.neighbour", environment: .production, hasOwnKey: true)
    /// Where all its notifications go.
    static let token = String(repeating: "0b", count: 32)
    /// What a ratio is of at least. A route that is ruined takes seconds: half of its results took 1.7 s and more while
    /// its lane was in trouble. Less than this would judge the machine: where a row keeps all of the cores busy (31,
    /// 54, 147), or other work does, 5 ms become 230 on two of them.
    static let least = Duration.milliseconds(100) * Slowness.factor
    /// The largest ratio of the median of a route that nothing happened to.
    static let mostRatio = 3.0
    /// The largest ratio of its slowest: two seconds at least.
    static let mostSlowestRatio = 20.0
    private static let pause = Duration.milliseconds(50)
    private static let samples = 51

    private let state = Mutex(State())
    private let load = StopSign()
    private let results = StopSign()

    /// How many results there were.
    var finished: Int { state.withLock { $0.times.count } }

    /// Starts the load.
    func begin(_ local: LocalRun) {
        let works: [@Sendable (FaultNeighbour) throws -> Void] = [
            { try $0.listen(local) }, { try $0.produce(local) },
        ]
        for work in works {
            let task = Task { [self] in
                do {
                    try await BlockingWork.run("neighbour") { [self] in try work(self) }
                } catch {
                    state.withLock { $0.failure = "\(error)" }
                }
            }
            state.withLock { $0.tasks.append(task) }
        }
    }

    /// Measures what is usual, until the fault, which comes next.
    ///
    /// - Parameter limit: How long it may take.
    func measureAlone(within limit: Duration) async throws {
        let deadline = ContinuousClock.now.advanced(by: limit)
        try await BlockingWork.run("neighbour") { [self] in
            // While the worker starts, what waits for it tells nothing.
            try awaitTimes(from: nil, count: 1, deadline)
            try awaitTimes(from: .now, count: Self.samples, deadline)
        }
    }

    private func awaitTimes(
        from start: ContinuousClock.Instant?, count: Int, _ deadline: ContinuousClock.Instant
    ) throws {
        while true {
            let (times, failure) = state.withLock { state in
                (state.times.filter { time in start.map { time.due >= $0 } ?? true }.map(\.took), state.failure)
            }
            if let failure { throw FaultFailure("the neighbour has ended: \(failure)") }
            if times.count >= count {
                state.withLock { state in
                    state.alone = FaultRing.median(times)
                    state.faultAt = .now
                }
                return
            }
            guard ContinuousClock.now < deadline else { throw FaultFailure("in vain: the neighbour's first results") }
            poll(nil, 0, 20)
        }
    }

    /// Counts what is published from now on alone, because what came before is not the fault: a worker's start, a
    /// producer's haste.
    func judgeFromNow() { state.withLock { $0.faultAt = .now } }

    /// Ends the load, waits for the results that are missing, and judges.
    ///
    /// - Parameter limit: How long these may take.
    /// - Returns: Nil where it was judged before.
    func conclude(within limit: Duration) async -> Measurement? {
        guard !load.isRaised, state.withLock({ $0.end == nil }) else { return nil }
        let deadline = ContinuousClock.now.advanced(by: limit)
        _ = try? await BlockingWork.run("neighbour") { [self] in
            let enough = (state.withLock(\.faultAt) ?? .now).advanced(by: Self.pause * Self.samples)
            while ContinuousClock.now < enough { poll(nil, 0, 20) }
            state.withLock { $0.end = .now }
            // What could not be published at its time is published late, or nobody would know of a broker that took
            // none.
            while ContinuousClock.now < deadline,
                state.withLock({ !($0.isProduced && $0.waiting.isEmpty) && $0.failure == nil })
            {
                poll(nil, 0, 20)
            }
        }
        await end()
        return state.withLock { state in
            let (start, now) = (state.faultAt ?? .now, ContinuousClock.now)
            // What has no result yet has taken this long at least.
            var times = state.times.filter { $0.due >= start }.map(\.took)
            times += state.waiting.values.filter { $0 >= start }.map { $0.duration(to: now) }
            times.sort()
            return Measurement(
                alone: state.alone ?? .zero, beside: times.isEmpty ? .zero : times[times.count / 2],
                slowest: times.isEmpty ? .zero : times[times.count * 19 / 20],
                longest: times.last ?? .zero, missing: state.waiting.count,
                failure: times.isEmpty ? state.failure ?? "it has no results since the fault" : state.failure)
        }
    }

    /// Ends everything that runs.
    func end() async {
        load.raise()
        results.raise()
        for task in state.withLock({ $0.tasks }) { await task.value }
    }

    /// Publishes jobs at their times; one that is late counts from when it was due.
    private func produce(_ local: LocalRun) throws {
        let client = try local.connect("neighbour load")
        defer { client.close() }
        while !state.withLock(\.isListening), !load.isRaised { poll(nil, 0, 10) }
        var message = OutgoingMessage()
        var due = ContinuousClock.now
        defer { state.withLock { $0.isProduced = true } }
        while !load.isRaised, state.withLock({ state in state.end.map { due < $0 } ?? true }) {
            let id = JobIdentifier.new()
            message.reset()
            message.isMandatory = true
            message.setExchange("apns.jobs")
            message.setRoutingKey(Array("production.normal.\(Self.app.topic)".utf8).span)
            message.setMessageID(Array(id.utf8).span)
            message.setContentType(MessageName.rawContentType)
            message.addHeader(HeaderName.deviceToken) { $0.append(contentsOf: Self.token.utf8) }
            message.setBody(Array(#"{"aps":{"alert":"Good morning"}}"#.utf8).span)
            state.withLock { $0.waiting[id] = due }
            guard try client.publishConfirmed(message) == .confirmed else {
                throw FaultFailure("the broker refused a job")
            }
            due = due.advanced(by: Self.pause)
            let left = ContinuousClock.now.duration(to: due)
            if left > .zero { poll(nil, 0, Int32(left / .milliseconds(1))) }
        }
    }

    /// Takes the time of each result.
    private func listen(_ local: LocalRun) throws {
        let client = try local.connect("neighbour results")
        defer { client.close() }
        let queue = try client.declareQueue("apns.q.tap.guest.neighbour", exclusive: true)
        try client.bind(queue: queue, exchange: TopologyNames.results, routingKey: "*.*.\(Self.app.topic)")
        try client.startConsuming(queue: queue)
        state.withLock { $0.isListening = true }
        while !results.isRaised {
            guard let delivery = try client.receive(timeout: .milliseconds(100)) else { continue }
            let result = BrokerMessage(delivery)
            try client.acknowledge(delivery)
            let now = ContinuousClock.now
            state.withLock { state in
                if !result.routingKey.hasPrefix("accepted.") { state.failure = "a result is \(result.routingKey)" }
                guard let due = state.waiting.removeValue(forKey: result.correlationID ?? "") else { return }
                state.times.append((due, due.duration(to: now)))
            }
        }
    }
}

extension FaultRing {
    /// Whether a worker is ready, and not only for its neighbour's sake; blocks for a moment.
    func isReady(_ worker: FaultWorker) -> Bool {
        guard worker.isReady, neighbour != nil else { return worker.isReady }
        return setup.apps.allSatisfy { (try? worker.lacks(route: $0.route)) == false }
    }

    /// Expects that the neighbour's results came about as soon as they did before anything was wrong, and that it lost
    /// none; its load ends. Once is enough, and the end of a run asks for it.
    func judgeNeighbour() async throws {
        guard let measurement = await neighbour?.conclude(within: setup.patience) else { return }
        let ratio = (measurement.ratio * 100).rounded() / 100
        let milliseconds = [
            measurement.alone, measurement.beside, measurement.slowest, measurement.longest,
        ].map {
            Int($0 / .milliseconds(1))
        }
        note(
            "the neighbour's median latency is \(ratio) times that of before (\(milliseconds[0]), \(milliseconds[1]) ms;"
                + " 95 %: \(milliseconds[2]) ms; longest: \(milliseconds[3]) ms)")
        expect(ratio <= FaultNeighbour.mostRatio, "the neighbour's median latency is \(ratio) times that of before")
        expect(
            measurement.slowestRatio <= FaultNeighbour.mostSlowestRatio,
            "one in twenty jobs of the neighbour took longer than \(milliseconds[2]) ms")
        expect(measurement.missing == 0, "\(measurement.missing) jobs of the neighbour have no result")
        expect(measurement.failure == nil, "the neighbour: \(measurement.failure ?? "")")
    }

    /// How many pushes APNs saw of everything but the neighbour, by how they were answered.
    var answers: [Ledger.Count] {
        neighbour == nil ? simulator.ledger.counts : simulator.ledger.counts(besides: FaultNeighbour.token)
    }

    /// How many results of the neighbour the broker may hold.
    var neighboursResults: Int { neighbour?.finished ?? 0 }
}
