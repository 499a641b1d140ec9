import Synchronization
import WorkerSettings

/// The memory for jobs that the routes of a worker share. Safe on any thread.
///
/// A lock is taken where a route asks for another power of two, gets memory or gives it back, and by `divide(among:)`
/// and `problem`. All other values are read without a lock.
final class SharedMemoryBudget: Sendable {
    private let budget: Mutex<MemoryBudget>
    private let latestPart: Atomic<Int>
    private let latestLevel: Atomic<Int>
    private let latestFree: Atomic<Int>

    /// A budget before anything is lent.
    ///
    /// - Parameters:
    ///   - bytes: The whole budget.
    ///   - queues: How many queues there are.
    init(bytes: Int = WorkerConfiguration.standardJobMemory, queues: Int = 1) {
        let budget = MemoryBudget(bytes: bytes, queues: queues)
        latestPart = Atomic(budget.part)
        latestLevel = Atomic(budget.level)
        latestFree = Atomic(budget.free)
        self.budget = Mutex(budget)
    }

    /// The part that each queue has at all times, in bytes.
    var part: Int { latestPart.load(ordering: .relaxed) }
    /// See ``MemoryBudget/problem``.
    var problem: String? { budget.withLock(\.problem) }
    /// The most that a queue may have lent, in bytes.
    var level: Int { latestLevel.load(ordering: .relaxed) }
    /// What could be lent at once, in bytes.
    var free: Int { latestFree.load(ordering: .relaxed) }

    /// See ``MemoryBudget/divide(among:)``.
    func divide(among queues: Int) { change { $0.divide(among: queues) } }

    /// See ``MemoryBudget/ask(for:insteadOf:queues:)``.
    func ask(for exponent: Int?, insteadOf former: Int?, queues: Int) {
        change { $0.ask(for: exponent, insteadOf: former, queues: queues) }
    }

    /// See ``MemoryBudget/lend(_:insteadOf:queues:)``.
    func lend(_ bytes: Int, insteadOf former: Int, queues: Int) -> Int {
        change { $0.lend(bytes, insteadOf: former, queues: queues) }
    }

    private func change<Result: Sendable>(_ change: (inout MemoryBudget) -> Result) -> Result {
        budget.withLock { budget in
            let result = change(&budget)
            latestPart.store(budget.part, ordering: .relaxed)
            latestLevel.store(budget.level, ordering: .relaxed)
            latestFree.store(budget.free, ordering: .relaxed)
            return result
        }
    }
}
