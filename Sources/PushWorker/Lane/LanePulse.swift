import Synchronization

/// What a lane shows to other threads at any moment: that it turns, and what it is doing.
final class LanePulse: Sendable {
    /// What a lane does at a moment of its turn.
    enum Step: UInt8, Sendable {
        case starting, waiting, messages, routes, publishing, acknowledging, reporting, closing

        /// The step in words.
        var text: String {
            switch self {
            case .starting: "starting"
            case .waiting: "waiting for sockets, or serving them"
            case .messages: "taking what helper threads made"
            case .routes: "looking at its routes"
            case .publishing: "publishing to the broker"
            case .acknowledging: "acknowledging to the broker"
            case .reporting: "leaving a report"
            case .closing: "closing its connections"
            }
        }
    }

    private let turnCount = Atomic<UInt64>(0)
    private let currentStep = Atomic<UInt8>(Step.starting.rawValue)
    private let stuck = Atomic<Bool>(false)
    private let over = Atomic<Bool>(false)

    /// A lane that has not turned yet.
    init() {}

    /// How many turns began.
    var turns: UInt64 { turnCount.load(ordering: .relaxed) }

    /// What the lane does now.
    var step: Step { Step(rawValue: currentStep.load(ordering: .relaxed)) ?? .starting }

    /// Whether the watchdog found that the lane does not turn, and it has not turned since.
    var isStuck: Bool { stuck.load(ordering: .relaxed) }

    /// Whether the lane has ended: it is not expected to turn any more.
    var isOver: Bool { over.load(ordering: .relaxed) }

    /// The lane has ended, drained or not.
    func end() {
        over.store(true, ordering: .relaxed)
        setStuck(false)
    }

    /// A turn begins; on the lane's thread.
    func turn() {
        turnCount.store(turnCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        enter(.waiting)
    }

    /// The lane does something else now; on the lane's thread.
    func enter(_ step: Step) { currentStep.store(step.rawValue, ordering: .relaxed) }

    /// Notes what the watchdog found.
    func setStuck(_ isStuck: Bool) { stuck.store(isStuck, ordering: .relaxed) }
}
