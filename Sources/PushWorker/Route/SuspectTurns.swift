import Synchronization

/// Lets one lane of a route at a time take up jobs that came back often, with nothing under way on the others.
///
/// If a suspect ends the process, the broker redelivers only that suspect, and no other job of the route. Safe on any
/// thread. No lock is taken while no lane holds a suspect.
final class SuspectTurns: Sendable {
    private struct State {
        /// Lanes with suspects.
        var waiting: Set<Int> = []
        /// Lanes that stand still: nothing in flight and no job taken since the first lane asked for its turn.
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
