import Dispatch
import EventLoop
import Logging

/// A thread that looks at the lanes once a second, and at the state of worker and routes every third time.
///
/// It logs when a lane does not turn, and changes of state: see ``StateLog``. While a lane does not turn, `/livez` says
/// so.
///
/// Nothing that a lane calls waits for a peer, except that its end closes two connections, within two seconds each. So
/// a lane that does not turn is a fault of this program or of its machine, and only a restart helps.
final class WorkerWatchdog: Sendable {
    /// The time between two looks.
    static let interval = Duration.seconds(1)
    /// One of this many looks is at states, too. With many routes, a look at states costs more.
    private static let looksAtStates = 3

    private let lanes: [(index: Int, pulse: LanePulse)]
    private let readiness: @Sendable () -> WorkerReadiness
    private let interval: Duration
    private let logger: Logger
    private let end = DispatchSemaphore(value: 0)

    /// Prepares a watchdog; `run()` does the work.
    ///
    /// - Parameters:
    ///   - lanes: The numbers and the pulses of the lanes.
    ///   - readiness: How the worker is doing.
    ///   - logger: Where it says what it found.
    ///   - interval: The time between two looks.
    init(
        lanes: [(index: Int, pulse: LanePulse)], readiness: @escaping @Sendable () -> WorkerReadiness, logger: Logger,
        interval: Duration = WorkerWatchdog.interval
    ) {
        self.lanes = lanes
        self.readiness = readiness
        self.logger = logger
        self.interval = interval
    }

    /// Ends `run()`.
    func stop() { end.signal() }

    /// Looks at the worker until it is stopped; on a thread of its own.
    func run() {
        var watches = lanes.map { _ in LaneWatch() }
        var states = StateLog()
        var looks = 0
        while end.wait(timeout: .now() + .nanoseconds(Int(interval.clampedNanoseconds))) == .timedOut {
            for (position, lane) in lanes.enumerated() where !lane.pulse.isOver {
                act(on: watches[position].look(turns: lane.pulse.turns), lane.index, lane.pulse)
            }
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

    private func act(on finding: LaneWatch.Finding, _ index: Int, _ pulse: LanePulse) {
        switch finding {
        case .fine: break
        case .stuck(let looks):
            pulse.setStuck(true)
            let stillness = interval * looks
            logger.error(
                "a lane does not turn",
                metadata: .with([
                    .lane: "\(index)", .duration: "\(stillness.clampedNanoseconds / 1_000_000)",
                    .detail: "it stands at: \(pulse.step.text)",
                ]))
        case .recovered:
            pulse.setStuck(false)
            logger.notice("a lane turns again", metadata: .with([.lane: "\(index)"]))
        }
    }
}
