import Synchronization

/// Lets one lane of a route at a time take up jobs that came back often, with nothing under way on the others.
///
/// If such a job ends the process, no neighbour of its route comes back as well. Safe on any thread. No lock is taken
/// while no lane holds such a job.
final class SuspectTurns: Sendable {
    private struct State {
        /// Lanes with suspects.
        var waiting: Set<Int> = []
        /// Lanes that have had nothing under way, and taken nothing, since the first lane with suspects began to wait.
        var still: Set<Int> = []
    }

    private let state = Mutex(State())
    /// The lane whose turn it is; `none` while no lane holds suspects.
    private let turn = Atomic<Int>(none)
    private static let none = -1

    /// Starts without suspects.
    init() {}

    /// The lane whose turn it is: the first of those with suspects; nil without one.
    var lane: Int? {
        let lane = turn.load(ordering: .acquiring)
        return lane == Self.none ? nil : lane
    }

    /// Notes whether a lane holds suspects, or works on one.
    func note(_ lane: Int, hasSuspects: Bool) {
        state.withLock { state in
            if hasSuspects { state.waiting.insert(lane) } else { state.waiting.remove(lane) }
            if state.waiting.isEmpty { state.still = [] }
            turn.store(state.waiting.min() ?? Self.none, ordering: .releasing)
        }
    }

    /// Notes whether a lane has anything under way beside the suspects that it holds.
    ///
    /// - Returns: Whether that is news.
    func note(_ lane: Int, isStill: Bool) -> Bool {
        state.withLock { state in
            isStill ? state.still.insert(lane).inserted : state.still.remove(lane) != nil
        }
    }

    /// Whether a lane may take a suspect up, as far as the others are concerned.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - lanes: All lanes of the route.
    func mayTake(_ lane: Int, of lanes: [Int]) -> Bool {
        guard lanes.count > 1 else { return true }
        return state.withLock { state in
            state.waiting.min() == lane && lanes.allSatisfy { $0 == lane || state.still.contains($0) }
        }
    }
}
