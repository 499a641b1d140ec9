internal import Synchronization

/// Lets the lanes of a worker end together, for until the last one is drained it may have something to ask the others.
/// Safe on any thread.
final class DrainBarrier: Sendable {
    private let working: Mutex<Set<Int>>

    /// Starts with lanes that all work.
    ///
    /// - Parameter lanes: Their numbers.
    init(lanes: [Int]) { working = Mutex(Set(lanes)) }

    /// Notes how far a lane is; one that was drained may have work again, because another told it something.
    ///
    /// - Returns: Whether all lanes are drained now.
    func note(_ lane: Int, isDrained: Bool) -> Bool {
        working.withLock { working in
            if isDrained { working.remove(lane) } else { working.insert(lane) }
            return working.isEmpty
        }
    }
}
