import Dispatch
import EventLoop
import Logging

/// A thread that looks at the lane once a second, and at the state of worker and routes every third time.
///
/// It logs when the lane does not turn, and changes of state: see ``StateLog``. While it does not turn, `/livez` says
/// so.
///
/// Nothing that the lane calls waits for a peer, except that its end closes two connections, within two seconds each. So
/// a lane that does not turn is a fault of this program or of its machine, and only a restart helps.
final class WorkerWatchdog: Sendable {
    /// The time between two looks.
    static let interval = Duration.seconds(1)
    /// One of this many looks is at states, too. With many routes, a look at states costs more.
    private static let looksAtStates = 3

    private let lane: LanePulse
    private let readiness: @Sendable () -> WorkerReadiness
    private let interval: Duration
    private let logger: Logger
    private let end = DispatchSemaphore(value: 0)

    /// Prepares a watchdog; `run()` does the work.
    ///
    /// - Parameters:
    ///   - lane: The pulse of the lane.
    ///   - readiness: How the worker is doing.
    ///   - logger: Where it says what it found.
    ///   - interval: The time between two looks.
    init(
        lane: LanePulse, readiness: @escaping @Sendable () -> WorkerReadiness, logger: Logger,
        interval: Duration = WorkerWatchdog.interval
    ) {
        self.lane = lane
        self.readiness = readiness
        self.logger = logger
        self.interval = interval
    }

    /// Ends `run()`.
    func stop() { end.signal() }

    /// Looks at the worker until it is stopped; on a thread of its own.
    func run() {
        var watch = LaneWatch()
        var states = StateLog()
        var looks = 0
        while end.wait(timeout: .now() + .nanoseconds(Int(interval.clampedNanoseconds))) == .timedOut {
            if !lane.isOver { act(on: watch.look(turns: lane.turns)) }
            if looks.isMultiple(of: Self.looksAtStates) { states.look(readiness(), now: .now()).forEach(say) }
            looks += 1
        }
    }

    private func say(_ line: StateLog.Line) {
        var metadata: Logger.Metadata = [:]
        if let route = line.route { metadata[LogKey.route.rawValue] = "\(route)" }
        if let detail = line.detail { metadata[LogKey.detail.rawValue] = "\(detail)" }
        logger.log(level: line.level, "\(line.message)", metadata: metadata)
    }

    private func act(on finding: LaneWatch.Finding) {
        switch finding {
        case .fine: break
        case .stuck(let looks):
            lane.setStuck(true)
            let stillness = interval * looks
            logger.error(
                "the lane does not turn",
                metadata: .with([
                    .duration: "\(stillness.clampedNanoseconds / 1_000_000)",
                    .detail: "it stands at: \(lane.step.text)",
                ]))
        case .recovered:
            lane.setStuck(false)
            logger.notice("the lane turns again")
        }
    }
}
