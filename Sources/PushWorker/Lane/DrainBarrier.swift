import Synchronization

/// Lets the lanes of a worker, or of a route, end together. A drained lane waits for the others, because they may still
/// have questions to it. Safe on any thread.
final class DrainBarrier: Sendable {
    private let working: Mutex<Set<Int>>

    /// Starts with lanes that all work.
    ///
    /// - Parameter lanes: Their numbers.
    init(lanes: [Int]) { working = Mutex(Set(lanes)) }

    /// Notes whether a lane is drained. A drained lane may get work again, because another lane told it something.
    ///
    /// - Returns: Whether all lanes are drained now.
    func note(_ lane: Int, isDrained: Bool) -> Bool {
        working.withLock { working in
            if isDrained { working.remove(lane) } else { working.insert(lane) }
            return working.isEmpty
        }
    }
}
