import BrokerClient
import EventLoop
import Logging
import RabbitMQ
import Topology

/// Reads once what the fleet's workers report of dead tokens, and lets this worker's routes begin there.
///
/// A worker that cannot read the reports works as well. It then begins with nothing learned.
struct DeadTokenLearner {
    /// How old reports may be: a worker that is restarted takes less time than the longest age, and each worker reports
    /// more often than the shortest.
    static let ages = Duration.seconds(30)...Duration.seconds(300)
    /// About how many messages are read. If more were read, the newest would not be reached within `patience`.
    static let many = 5_000
    /// The most reports that may be under way. Each is at most as long as a report may be.
    private static let prefetch: UInt16 = 32
    /// They are short, because the worker takes no jobs meanwhile. One that misses a report learns by itself.
    private static let patience = StreamReplay.Patience(
        first: .milliseconds(500), ifEmpty: .milliseconds(200), quiet: .milliseconds(250), longest: .seconds(2))

    private let routes: [String: SharedDeadTokens]
    /// What was read.
    private var fleet: FleetDeadTokens
    /// How often it may still try. A broker that goes away twice in a row must not keep the commands of operators
    /// waiting.
    private var triesLeft = 2
    /// Why it cannot all be read; nil where it can.
    private var trouble: String?

    /// Has read nothing.
    ///
    /// - Parameter routes: The dead tokens of this worker's routes, by the routes' names.
    init(_ routes: [String: SharedDeadTokens]) {
        self.routes = routes
        fleet = FleetDeadTokens(routes: Set(routes.keys))
    }

    /// Reads the reports of the last minutes, if they were not read before.
    ///
    /// - Parameter client: A client that consumes nothing, and consumes nothing afterwards unless an error is thrown.
    /// - Throws: An error after which the client is of no use. The next client may try again.
    mutating func read(by client: AMQPBlockingClient) throws(AMQPError) {
        guard triesLeft > 0 else { return }
        triesLeft -= 1
        do throws(AMQPError) {
            try readStream(client)
            triesLeft = 0
            trouble = fleet.ignored > 0 ? "\(fleet.ignored) messages are not reports" : nil
        } catch {
            trouble = error.message
            // A refusal costs the channel alone, and waiting will hardly help.
            guard error.replyCode == 403 || error.replyCode == 404 else { throw error }
            triesLeft = 0
        }
    }

    /// How old the reports may be that are read.
    ///
    /// - Parameter count: How many messages the stream holds, as if they were those of the longest age.
    static func age(ofMessages count: Int) -> Duration {
        count <= many ? ages.upperBound : max(ages.lowerBound, ages.upperBound * many / count)
    }

    private mutating func readStream(_ client: AMQPBlockingClient) throws(AMQPError) {
        // Without a count the stream is waited for a little longer.
        let count = (try? client.depth(of: TopologyNames.fleetQueue))?.messages
        let since = "\(Self.age(ofMessages: count ?? 0).components.seconds)s"
        try client.startConsuming(
            queue: TopologyNames.fleetQueue, prefetch: Self.prefetch,
            arguments: FieldTable(entries: [
                .init(name: Array(StreamReplay.offset.utf8), value: .text(since))
            ]))
        var replay = StreamReplay(Self.patience, now: .now(), isCountedEmpty: count == 0)
        while !replay.isComplete {
            if let delivery = try client.receive(timeout: replay.dueAt - .now()) {
                replay.heard(now: .now())
                take(delivery)
                if !client.hasReceived { try client.acknowledge(delivery, multiple: true) }
            }
            replay.tick(now: .now())
        }
        try client.stopConsuming()
        while client.hasReceived { _ = try client.receive(timeout: .zero) }
    }

    /// Takes a message of the stream. What workers tell each other about their shares says nothing of dead tokens.
    private mutating func take(_ delivery: Delivery) {
        guard WorkerReport.isCarried(by: delivery) else { return }
        fleet.heard(delivery.isTruncated ? nil : WorkerReport(parsing: Array(delivery.bytes[delivery.body])))
    }

    /// Lets the routes begin where the others are, and logs that.
    ///
    /// - Parameters:
    ///   - control: What operators wanted before. It means nothing new to the routes.
    ///   - logger: Where it says what was learned, and what could not be.
    func begin(_ control: ControlState, logger: Logger) {
        for (name, deadTokens) in routes {
            guard let knowledge = fleet.knowledge(ofRoute: name) else { continue }
            deadTokens.begin(from: knowledge, trust: control.trust(ofRoute: name)?.id)
        }
        let held = fleet.held.count
        if fleet.workerCount > 0 {
            logger.log(
                level: held > 0 ? .notice : .info, "this worker begins with what others know of dead tokens",
                metadata: .with([.count: "\(fleet.workerCount)", .detail: "\(held) routes hold device tokens"]))
        }
        if let trouble {
            logger.notice(
                "what others know of dead tokens cannot all be read: this worker begins without the rest",
                metadata: .with([.queue: "\(TopologyNames.fleetQueue)", .error: "\(trouble)"]))
        }
    }
}
