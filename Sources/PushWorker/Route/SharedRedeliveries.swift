import EventLoop
import Synchronization

/// The memory of redeliveries of a route on all its lanes. Safe on any thread. While nothing is due to be forgotten,
/// `forgetIfDue(now:)` takes no lock.
final class SharedRedeliveries: Sendable {
    /// The memory. Each of its jobs belongs to one lane.
    typealias Memory = RedeliveryMemory<RedeliveryKey, JobOnLane>

    private let memory: Mutex<Memory>
    /// When the memory has something to forget, in nanoseconds; the largest number for never.
    private let due = Atomic<UInt64>(.max)
    private let unread = Atomic<UInt32>(0)

    /// Starts with nothing to remember.
    ///
    /// - Parameter lanes: On how many lanes the route lives.
    init(lanes: Int = 1) { memory = Mutex(Memory(lanes: lanes)) }

    /// How many times deliveries that were held unread were given back, or lost with their channel.
    var unreadReturns: UInt32 { unread.load(ordering: .relaxed) }

    /// Notes that deliveries that were held unread go back, or are lost with their channel.
    func returnedUnread() { unread.wrappingAdd(1, ordering: .relaxed) }

    /// When `forgetIfDue(now:)` has something to do; nil for never.
    var nextDue: MonotonicTime? {
        let due = due.load(ordering: .relaxed)
        return due == .max ? nil : MonotonicTime(nanoseconds: due)
    }

    /// Forgets what has been remembered for long enough.
    func forgetIfDue(now: MonotonicTime) {
        guard let nextDue, now >= nextDue else { return }
        with { $0.forgetIfDue(now: now) }
    }

    /// Looks into the memory, or changes it.
    func with<Result: Sendable>(_ use: (inout Memory) -> Result) -> Result {
        memory.withLock { memory in
            let result = use(&memory)
            due.store(memory.nextDue?.nanoseconds ?? .max, ordering: .relaxed)
            return result
        }
    }
}
