import Synchronization

/// The state that the lanes of one route share. Safe on any thread.
///
/// An ordinary push takes no lock here. A lock is taken when something rare happens.
final class SharedRouteState: Sendable {
    /// The lanes on which the route lives. Where one lane speaks for all of them, the first one does.
    let lanes: [Int]
    /// Device tokens that rest.
    let cooling = SharedCoolingTokens()
    /// The share of dead tokens among final answers.
    let deadTokens: SharedDeadTokens
    /// Whose turn it is to take up jobs that came back often.
    let suspects = SuspectTurns()
    /// Watches the clock.
    let clock = Mutex(ClockSkewWatch())
    /// Lets a route that was removed end on all lanes together, because its lanes may have questions to each other.
    let barrier: DrainBarrier
    /// The memory by which redeliveries are recognised.
    let redeliveries: SharedRedeliveries

    /// Starts with nothing known.
    ///
    /// - Parameter lanes: The numbers of the lanes on which the route lives; at least one.
    init(lanes: [Int] = [0]) {
        self.lanes = lanes
        barrier = DrainBarrier(lanes: lanes)
        deadTokens = SharedDeadTokens(lanes: lanes.count)
        redeliveries = SharedRedeliveries(lanes: lanes.count)
    }
}
