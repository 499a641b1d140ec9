import Synchronization

/// The state that the lanes of one route share. Safe on any thread.
///
/// A push takes a lock here only in rare cases. Final answers about device tokens share one lock for up to 64 of them
/// (`DeadTokenTally`).
final class SharedRouteState: Sendable {
    /// The lanes on which the route lives. If one lane acts for all of them, it is the first one.
    let lanes: [Int]
    /// Device tokens that rest.
    let cooling = SharedCoolingTokens()
    /// The watch over the share of dead tokens among final answers.
    let deadTokens: SharedDeadTokens
    /// Whose turn it is to take up jobs that came back often.
    let suspects = SuspectTurns()
    /// What the log tells of hosts that cannot be reached, and of channels that the broker closes.
    let outages = RouteOutages()
    /// Watches how far this machine's clock is off APNs' clock.
    let clock = Mutex(ClockSkewWatch())
    /// Lets a route that was removed end on all lanes together, because its lanes may still ask each other questions.
    let barrier: DrainBarrier
    /// The memory by which redeliveries are recognised.
    let redeliveries: SharedRedeliveries

    /// Starts with nothing known but of dead tokens.
    ///
    /// - Parameters:
    ///   - lanes: The numbers of the lanes on which the route lives; at least one.
    ///   - earlier: What the route knew of dead tokens before its configuration changed; nil for nothing.
    init(lanes: [Int] = [0], after earlier: SharedDeadTokens? = nil) {
        self.lanes = lanes
        barrier = DrainBarrier(lanes: lanes)
        deadTokens = SharedDeadTokens(lanes: lanes.count, after: earlier)
        redeliveries = SharedRedeliveries(lanes: lanes.count)
    }
}
