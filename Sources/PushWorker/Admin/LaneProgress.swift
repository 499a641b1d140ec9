/// How long ago the lane moved.
package struct LaneProgress: Sendable, Equatable {
    /// The time since the beginning of the last turn that left a report. Before the first report: since the worker's
    /// start.
    package var sinceLastTurn: Duration
    /// Whether the watchdog found that it does not turn.
    package var isStuck: Bool
    /// The last known step of the lane, in words.
    package var step: String?

    /// Makes a value from its parts.
    package init(sinceLastTurn: Duration, isStuck: Bool = false, step: String? = nil) {
        self.sinceLastTurn = sinceLastTurn
        self.isStuck = isStuck
        self.step = step
    }

    /// How long the lane may take for one turn before it counts as stuck.
    ///
    /// - Parameter heartbeat: The broker's heartbeat. The lane may take three of them, and 30 s at least.
    static func patience(heartbeat: Duration) -> Duration { max(heartbeat * 3, .seconds(30)) }

    /// Whether the lane turns.
    ///
    /// - Parameter patience: How long it may take for one turn.
    func isMoving(within patience: Duration) -> Bool { !isStuck && sinceLastTurn <= patience }
}
