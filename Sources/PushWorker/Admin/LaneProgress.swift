/// How long ago a lane moved.
package struct LaneProgress: Sendable, Equatable {
    /// The lane's number.
    package var lane: Int
    /// The time since the beginning of the last turn that left a report. Before the first report: since the worker's
    /// start.
    package var sinceLastTurn: Duration
    /// Whether the watchdog found that it does not turn.
    package var isStuck: Bool
    /// The last known step of the lane, in words.
    package var step: String?

    /// Makes a value from its parts.
    package init(lane: Int, sinceLastTurn: Duration, isStuck: Bool = false, step: String? = nil) {
        self.lane = lane
        self.sinceLastTurn = sinceLastTurn
        self.isStuck = isStuck
        self.step = step
    }

    /// How long a lane may take for one turn before it counts as stuck.
    ///
    /// - Parameter heartbeat: The broker's heartbeat. A lane may take three of them, and 30 s at least.
    static func patience(heartbeat: Duration) -> Duration { max(heartbeat * 3, .seconds(30)) }

    /// Whether the lane turns.
    ///
    /// - Parameter patience: How long it may take for one turn.
    func isMoving(within patience: Duration) -> Bool { !isStuck && sinceLastTurn <= patience }
}
