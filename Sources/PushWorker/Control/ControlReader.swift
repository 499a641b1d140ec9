import BrokerClient
import Dispatch
import EventLoop
import Logging
import RabbitMQ
import Synchronization
import Text
import Topology
import WorkerSettings

/// Reads what operators ask of all workers, and tells the lane. It reads the stream `apns.q.control` from its
/// beginning on.
///
/// - Before the lane takes jobs, it reads once what the fleet's workers report of dead tokens.
/// - It has a thread and a connection of its own. The lane waits for it only at its start, and then not for long
///   (`LaneControl.patience`).
/// - Each connection reads the whole stream anew. Its commands then replace those that were known.
/// - While the stream cannot be read, the worker keeps what it knows.
final class ControlReader: Sendable {
    /// The longest wait before the reader looks at the time again, and at whether it is to stop.
    private static let step = Duration.milliseconds(250)
    /// The same after the stream was read. A machine may have hundreds of workers without work, so the wait is longer.
    private static let calmStep = Duration.seconds(1)
    /// How long the broker may take to answer.
    private static let patience = Duration.seconds(5)
    /// The most messages that are worked on at a time.
    private static let batch = 100
    /// How many messages may be under way. With one batch alone each batch would cost a round trip to the broker. A
    /// command has 4 KB at most (`ControlCommand.maximumLength`).
    private static let window: UInt16 = 2_000
    /// The pause after a full batch, once the stream was read. A flood of messages then costs only a small part of a
    /// processor.
    private static let breath = Duration.milliseconds(50)
    /// The longest wait for the next try while the lane takes no jobs because nothing is known yet, if the broker is
    /// there.
    private static let firstWait = Duration.seconds(1)
    /// The most commands of which the log tells once the stream has been read. Commands that come later are all told.
    private static let mostTold = 20

    /// What a reader needs from its worker.
    struct Surroundings: Sendable {
        /// How the broker is reached.
        let broker: BrokerConfiguration
        /// Whether the lane reaches the broker and may publish.
        let isWorking: @Sendable () -> Bool
        /// Whether the lane reaches the broker.
        let isConnected: @Sendable () -> Bool
        /// Tells the lane what operators want now.
        let announce: @Sendable (ControlState) -> Void
        /// Whether each route that has begun consumes, by its name.
        let consuming: @Sendable () -> [String: Bool]
        /// Tells the lane this worker's parts of the rates that operators set, by the routes' names.
        let deal: @Sendable ([String: FleetRates.Part]) -> Void
        /// The dead tokens of the routes there are at the start, by the routes' names.
        let deadTokens: [String: SharedDeadTokens]
    }

    private struct State {
        var status = ControlStatus(trouble: "connecting")
        var isStopping = false
    }

    private let instance: String
    private let surroundings: Surroundings
    private let logger: Logger
    private let state = Mutex(State())
    private let end = DispatchSemaphore(value: 0)

    /// Prepares a reader; `run()` does the work.
    ///
    /// - Parameters:
    ///   - instance: The worker's name.
    ///   - surroundings: What it needs from its worker.
    ///   - logger: Where it says what it reads.
    init(_ instance: String, surroundings: Surroundings, logger: Logger) {
        self.instance = instance
        self.surroundings = surroundings
        self.logger = logger
    }

    /// How the worker knows what operators ask for.
    var status: ControlStatus { state.withLock { $0.status } }

    /// Ends `run()`; not waited for.
    func stop() {
        state.withLock { $0.isStopping = true }
        end.signal()
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    // MARK: The thread

    /// Reads until `stop()`; blocks the calling thread.
    func run() {
        var teller = Teller(learner: DeadTokenLearner(surroundings.deadTokens))
        var unreachable = Backoff.broker
        var refused = Backoff.queue
        var random = Randomness()
        while !isStopping {
            let start = MonotonicTime.now()
            var isRefused = false
            do throws(AMQPError) {
                try follow(&teller)
            } catch {
                isRefused = error.replyCode == 403 || error.replyCode == 404
                failed(error.message, isRefused: isRefused, &teller)
            }
            unreachable.ended(after: .now() - start)
            refused.ended(after: .now() - start)
            pause(isRefused ? refused.next(using: &random) : unreachable.next(using: &random), &teller)
            // If hundreds of workers come back at once, their lanes need the broker more than their readers do.
            while teller.state != nil, !surroundings.isConnected(), !isStopping { pause(Self.step, &teller) }
        }
    }

    /// Waits without a connection.
    private func pause(_ duration: Duration, _ teller: inout Teller) {
        let start = MonotonicTime.now()
        while MonotonicTime.now() < start + duration, !isStopping {
            _ = end.wait(timeout: .now() + .nanoseconds(Int(Self.step.clampedNanoseconds)))
            tellTrouble(&teller)
            tellEnds(&teller)
            endHolds(&teller)
            // The lane waits, and the broker is there.
            if teller.state == nil, surroundings.isWorking(), MonotonicTime.now() >= start + Self.firstWait { return }
        }
    }

    /// Connects, and reads until the worker stops or the connection fails.
    private func follow(_ teller: inout Teller) throws(AMQPError) {
        let targets = try BrokerSearch.targets(of: surroundings.broker, step: Self.step) { !isStopping }
        let client = try AMQPBlockingClient.connect(
            to: targets, clientName: "\(instance) control", bodyLimit: WorkerReport.maximumLength,
            patience: Self.patience)
        defer { client.close() }
        if teller.state == nil { try teller.learner.read(by: client) }
        client.limitBodies(to: ControlCommand.maximumLength)
        // Without a count, the reading waits a little longer for the first message.
        let isEmpty = (try? client.depth(of: TopologyNames.controlQueue))?.messages == 0
        let isKnown = teller.state.map { $0 != ControlState() } ?? false
        let patience = isKnown ? ControlReading.laterPatience : ControlReading.patience
        let lastOffset = try lastOffset(client, patience, isCountedEmpty: isEmpty)
        try consume(client, from: "first")
        var reading = ControlReading(
            now: .now(), isCountedEmpty: isEmpty, lastOffset: lastOffset,
            patience: lastOffset == nil ? ControlReading.patienceAfterNothing : patience, beginsEarly: !isKnown)
        var nextDeal = MonotonicTime.now()
        while !isStopping {
            let count = try listen(client, &reading, &teller)
            reading.tick(now: .now())
            guard !reading.isInDoubt else { return }
            guard reading.isUsable else {
                tellEnds(&teller)
                endHolds(&teller)
                continue
            }
            // This comes before the lane begins, so that it does not begin with more than its part.
            if teller.state != reading.state || MonotonicTime.now() >= nextDeal {
                try deal(client, reading.state, &teller)
                nextDeal = .now() + FleetRates.interval
            }
            tell(&reading, &teller)
            if count >= Self.batch { _ = end.wait(timeout: .now() + .nanoseconds(Int(Self.breath.clampedNanoseconds))) }
        }
    }

    private func consume(_ client: AMQPBlockingClient, from offset: String) throws(AMQPError) {
        let start = FieldTable.Entry(name: Array(StreamReplay.offset.utf8), value: .text(offset))
        try client.startConsuming(
            queue: TopologyNames.controlQueue, prefetch: Self.window, arguments: FieldTable(entries: [start]))
    }

    /// The offset of the last message that the stream has now. A consumer that begins with the last chunk of messages
    /// tells it: the broker sends the chunk in one go, as far as the window allows. So a second is enough where messages
    /// keep coming.
    ///
    /// - Returns: Nil where no message came in time, or it has no offset.
    private func lastOffset(
        _ client: AMQPBlockingClient, _ patience: StreamReplay.Patience, isCountedEmpty: Bool
    ) throws(AMQPError) -> Int64? {
        try consume(client, from: "last")
        var short = patience
        short.quiet = .milliseconds(250)
        var replay = StreamReplay(short, now: .now(), isCountedEmpty: isCountedEmpty)
        var last: Int64?
        var end = MonotonicTime.distantFuture
        while !replay.isComplete, .now() < end, !isStopping {
            if let delivery = try client.receive(timeout: min(Self.step, replay.dueAt - .now())) {
                replay.heard(now: .now())
                end = min(end, .now() + .seconds(1))
                if let offset = delivery.streamOffset { last = max(last ?? offset, offset) }
                if !client.hasReceived { try client.acknowledge(delivery, multiple: true) }
            }
            replay.tick(now: .now())
        }
        try client.stopConsuming()
        while client.hasReceived { _ = try client.receive(timeout: .zero) }
        return last
    }

    /// Waits for the first message, and takes it with the others that have arrived: a batch at most.
    ///
    /// - Returns: How many there were.
    private func listen(
        _ client: AMQPBlockingClient, _ reading: inout ControlReading, _ teller: inout Teller
    ) throws(AMQPError) -> Int {
        let step = reading.isComplete ? Self.calmStep : Self.step
        guard var delivery = try client.receive(timeout: step) else { return 0 }
        var count = 0
        let (now, wall) = (MonotonicTime.now(), WallClock.milliseconds())
        while true {
            count += 1
            let command = delivery.isTruncated ? nil : ControlCommand(parsing: Array(delivery.bytes[delivery.body]))
            if command == nil { teller.ignored += 1 }
            reading.heard(command, offset: delivery.streamOffset, now: now, wall: wall)
            guard count < Self.batch, client.hasReceived, let next = try client.receive(timeout: .zero) else { break }
            delivery = next
        }
        try client.acknowledge(delivery, multiple: true)
        return count
    }

    // MARK: Rates for all workers

    /// Counts the consumers of the routes that have a rate for all workers. If this worker's parts change, the lane
    /// is told.
    private func deal(
        _ client: AMQPBlockingClient, _ state: ControlState, _ teller: inout Teller
    ) throws(AMQPError) {
        let wall = WallClock.milliseconds()
        var parts: [String: FleetRates.Part] = [:]
        // A route that could not begin sends nothing.
        for (route, isConsuming) in surroundings.consuming() {
            guard let perSecond = state.rate(ofRoute: route, at: wall)?.perSecond else { continue }
            if state.pause(ofRoute: route, at: wall) == nil {
                try count(route, isConsuming, client, &teller)
            } else {
                teller.rates.paused(route)
            }
            parts[route] = teller.rates.part(of: perSecond, route: route)
        }
        teller.rates.forget { parts[$0] != nil }
        teller.uncounted.formIntersection(parts.keys)
        deal(parts, &teller)
    }

    private func count(
        _ route: String, _ isConsuming: Bool, _ client: AMQPBlockingClient, _ teller: inout Teller
    ) throws(AMQPError) {
        do throws(AMQPError) {
            let consumers = try client.depth(of: TopologyNames.jobQueue(route: route)).consumers
            teller.rates.counted(consumers, of: route, isConsuming: isConsuming)
            teller.uncounted.remove(route)
        } catch {
            // Without its queue (404) the route gets no jobs, so no count is needed.
            guard error.replyCode == 403 || error.replyCode == 404 else { throw error }
            guard error.replyCode == 403 else { return }
            teller.rates.countRefused(route)
            guard teller.uncounted.insert(route).inserted else { return }
            logger.warning(
                "RabbitMQ does not count a route's consumers: the worker keeps its part of the rate, or takes the whole rate",
                metadata: .with([
                    .route: "\(route)", .error: "\(error.message)",
                    .detail: "give the user the rights of apns-worker; RabbitMQ 4.2.6 and 4.3.0 refuse even then",
                ]))
        }
    }

    /// Lets routes go on that were paused when their part of a rate was made, and whose pause has ended by itself while
    /// the stream cannot be read. No count follows then, so nothing else would end the hold.
    private func endHolds(_ teller: inout Teller) {
        guard let state = teller.state, teller.parts.contains(where: { $0.value.hold == .pause }) else { return }
        let wall = WallClock.milliseconds()
        var parts = teller.parts
        for (route, part) in parts where part.hold == .pause && state.pause(ofRoute: route, at: wall) == nil {
            parts[route]?.hold = .count
        }
        deal(parts, &teller)
    }

    private func deal(_ parts: [String: FleetRates.Part], _ teller: inout Teller) {
        guard parts != teller.parts else { return }
        teller.parts = parts
        surroundings.deal(parts)
    }

    // MARK: What others are told

    /// The state of what the lane and the log were told.
    struct Teller {
        /// The state that the lane knows; nil before it knows any.
        var state: ControlState?
        /// Knows what the fleet's workers report of dead tokens.
        var learner: DeadTokenLearner
        /// The commands that were in force when the log told of them last.
        var inForce: [ControlCommand] = []
        /// When the next command in force ends, in milliseconds since 1970; nil for never.
        var nextEnd: Int64?
        /// When ends were last checked, in milliseconds since 1970.
        var lookedAt = Int64.min
        /// Why the stream cannot be read, and whether the broker refused it; nil while it is read.
        var trouble: (reason: String, isRefused: Bool)?
        var isTroubleTold = false
        /// Whether the lane follows what was read so far, and the rest is being read.
        var isReading = false
        /// The counts of all consumers of the routes with a rate for all workers.
        var rates = FleetRates()
        /// Routes whose consumers the broker does not count for this worker.
        var uncounted: Set<String> = []
        /// This worker's parts of these rates.
        var parts: [String: FleetRates.Part] = [:]
        /// How many messages were not commands.
        var ignored = 0
    }

    /// Tells the lane what operators want. The first time, the lane begins to take jobs.
    private func announce(_ state: ControlState, _ teller: inout Teller) {
        if teller.state == nil { teller.learner.begin(state, logger: logger) }
        teller.state = state
        surroundings.announce(state)
    }

    /// Keeps what is in force, and tells the log what operators asked for before the worker heard of it.
    private func tellWhole(_ state: ControlState, isNews: Bool, _ teller: inout Teller, _ wall: Int64) {
        let known = teller.inForce
        teller.inForce = state.inForce(at: wall)
        teller.nextEnd = state.nextEnd(after: wall)
        guard isNews else { return }
        let news = teller.inForce.filter { !known.contains($0) }
        for command in news.prefix(Self.mostTold) { say("an operator asked all workers for something", command) }
        guard news.count > Self.mostTold else { return }
        logger.notice(
            "operators asked all workers for more than the log tells",
            metadata: .with([.count: "\(news.count - Self.mostTold)"]))
    }

    /// Tells the lane and the log what is new.
    func tell(_ reading: inout ControlReading, _ teller: inout Teller) {
        let wall = WallClock.milliseconds()
        let fresh = reading.takeFresh()
        if teller.isTroubleTold { logger.notice("what operators ask for can be read again") }
        (teller.trouble, teller.isTroubleTold) = (nil, false)
        teller.isReading = !reading.state.isWhole
        if teller.state != reading.state {
            announce(reading.state, &teller)
            for command in fresh { say("an operator asks all workers for something", command) }
            // What is read in the midst of the stream may be taken back further on.
            if reading.state.isWhole { tellWhole(reading.state, isNews: fresh.isEmpty, &teller, wall) }
        }
        tellEnds(&teller)
        leaveStatus(teller)
    }

    /// Logs commands that are over by themselves, and those that are in force again: they were interrupted, or the clock
    /// was set back.
    /// Takes back the parts of rates that are over.
    private func tellEnds(_ teller: inout Teller) {
        let wall = WallClock.milliseconds()
        let wasSetBack = wall < teller.lookedAt
        teller.lookedAt = wall
        guard let state = teller.state, wasSetBack || teller.nextEnd.map({ wall >= $0 }) == true else { return }
        for command in teller.inForce {
            if let until = command.until, until <= wall { say("what an operator asked for is over", command) }
        }
        let inForce = state.inForce(at: wall)
        for command in inForce where !teller.inForce.contains(command) {
            say("what an operator asked for stands again", command)
        }
        teller.inForce = inForce
        teller.nextEnd = state.nextEnd(after: wall)
        deal(teller.parts.filter { state.rate(ofRoute: $0.key, at: wall) != nil }, &teller)
        leaveStatus(teller)
    }

    /// The stream cannot be read.
    private func failed(_ reason: String, isRefused: Bool, _ teller: inout Teller) {
        logger.debug("what operators ask for is not read", metadata: .with([.error: "\(reason)"]))
        teller.trouble = (reason, isRefused)
        if isRefused, teller.state == nil {
            // Waiting would hardly help, so the lane begins.
            announce(ControlState(), &teller)
        }
        tellTrouble(&teller)
        leaveStatus(teller)
    }

    /// Logs once that the stream cannot be read. While the broker is away, the log of the lane says enough.
    private func tellTrouble(_ teller: inout Teller) {
        guard let trouble = teller.trouble, !teller.isTroubleTold, !isStopping,
            trouble.isRefused || surroundings.isWorking()
        else { return }
        teller.isTroubleTold = true
        logger.warning(
            "what operators ask for cannot be read: the worker keeps what it knows",
            metadata: .with([.queue: "\(TopologyNames.controlQueue)", .error: "\(trouble.reason)"]))
    }

    private func leaveStatus(_ teller: Teller) {
        var trouble = teller.isReading ? "the commands are being read: until then no campaign is cancelled" : nil
        if let reason = teller.trouble?.reason {
            // A worker that knows all commands goes on to follow them.
            let cancels = teller.state?.isWhole == true && teller.state != ControlState()
            trouble = cancels ? reason : "\(reason); until the commands are read no campaign is cancelled"
        }
        let status = ControlStatus(
            trouble: trouble, inForce: teller.inForce.count, ignored: teller.ignored)
        state.withLock { $0.status = status }
    }

    private func say(_ message: Logger.Message, _ command: ControlCommand) {
        var metadata = Logger.Metadata.with([.action: "\(command.action.rawValue)", .author: "\(command.author)"])
        switch command.target {
        case .route(let name): metadata[LogKey.route.rawValue] = "\(name)"
        case .campaign(let prefix): metadata[LogKey.campaign.rawValue] = "\(prefix)"
        }
        if let reason = command.reason { metadata[LogKey.reason.rawValue] = "\(reason)" }
        if let until = command.until { metadata[LogKey.until.rawValue] = "\(DateTime.write(until))" }
        if let perSecond = command.perSecond { metadata[LogKey.rate.rawValue] = "\(perSecond)" }
        logger.notice(message, metadata: metadata)
    }
}

extension Delivery {
    /// Its place in its stream; nil for a delivery of another queue.
    fileprivate var streamOffset: Int64? {
        guard let table = try? MessagePropertyReader(bytes, properties).headers else { return nil }
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
        var offset: Int64?
        // The broker's own value follows what a publisher may have written under this name.
        while let field = try? reader.next(in: bytes) {
            guard case .integer(let number) = field.value else { continue }
            if bytes.span.extracting(field.name).isEqual(to: StreamReplay.offset) { offset = number }
        }
        return offset
    }
}
