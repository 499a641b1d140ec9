import Synchronization

/// Lets one lane of a route at a time take up jobs that came back often, while nothing is under way on the other lanes.
///
/// If a suspect ends the process, the broker redelivers only that suspect, and no other job of the route. Safe on any
/// thread. No lock is taken while no lane holds a suspect.
final class SuspectTurns: Sendable {
    private struct State {
        /// Lanes with suspects.
        var waiting: Set<Int> = []
        /// Lanes that stand still: nothing is under way there but the suspects that they hold, and nothing more can
        /// arrive.
        var still: Set<Int> = []
    }

    private let state = Mutex(State())
    /// The lane whose turn it is; `none` while no lane holds suspects.
    private let turn = Atomic<Int>(none)
    private static let none = -1

    /// Starts without suspects.
    init() {}

    /// The lane whose turn it is: of the lanes with suspects, the one with the lowest number; nil without one.
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

    /// Notes whether a lane stands still: whether nothing is under way on it but the suspects that it holds.
    ///
    /// - Returns: Whether this differs from what was noted before.
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
