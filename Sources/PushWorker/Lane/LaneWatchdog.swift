internal import Dispatch
internal import EventLoop
internal import Logging

/// Decides from repeated looks at a lane's turns whether it is stuck.
///
/// It counts looks instead of time. While the whole process is stopped, or the machine sleeps, the watchdog does not
/// look either. Pure.
struct LaneWatch {
    /// What a look showed.
    enum Finding: Equatable {
        /// It turns, or has not been still for long.
        case fine
        /// It has not turned for this many looks. Found again after each further `limit` looks.
        case stuck(looks: Int)
        /// It turns again after it was stuck.
        case recovered
    }

    /// After how many looks without a turn a lane is stuck. A lane without work turns twice a second. The longest thing
    /// that a lane does on purpose is closing two connections, at two seconds each.
    static let limit = 10

    private var lastTurns: UInt64?
    private var still = 0

    /// A watch that has seen nothing.
    init() {}

    /// Looks at a lane.
    ///
    /// - Parameter turns: How many turns it has begun.
    mutating func look(turns: UInt64) -> Finding {
        guard turns == lastTurns else {
            lastTurns = turns
            defer { still = 0 }
            return still >= Self.limit ? .recovered : .fine
        }
        still += 1
        return still.isMultiple(of: Self.limit) ? .stuck(looks: still) : .fine
    }
}

/// A thread that looks at every lane once a second, and logs when one does not turn. `/livez` says so meanwhile.
///
/// Nothing that a lane calls waits for a peer. A lane that does not turn is a fault of this program or of its machine,
/// and only a restart helps.
final class LaneWatchdog: Sendable {
    /// The time between two looks.
    static let interval = Duration.seconds(1)

    private let lanes: [(index: Int, pulse: LanePulse)]
    private let interval: Duration
    private let logger: Logger
    private let end = DispatchSemaphore(value: 0)

    /// Prepares a watchdog; `run()` does the work.
    ///
    /// - Parameters:
    ///   - lanes: Their numbers and what they let see.
    ///   - logger: Where it says what it found.
    ///   - interval: The time between two looks.
    init(lanes: [(index: Int, pulse: LanePulse)], logger: Logger, interval: Duration = LaneWatchdog.interval) {
        self.lanes = lanes
        self.logger = logger
        self.interval = interval
    }

    /// Ends `run()`.
    func stop() { end.signal() }

    /// Looks at the lanes until it is stopped; on a thread of its own.
    func run() {
        var watches = lanes.map { _ in LaneWatch() }
        while end.wait(timeout: .now() + .nanoseconds(Int(interval.clampedNanoseconds))) == .timedOut {
            for (position, lane) in lanes.enumerated() where !lane.pulse.isOver {
                act(on: watches[position].look(turns: lane.pulse.turns), lane.index, lane.pulse)
            }
        }
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
