import HeapModule

/// Timers in the order of their deadlines. The queue reads no clock.
///
/// Timers with the same deadline come out in the order they were scheduled.
struct TimerQueue {
    /// What a timer runs; the argument is the time of the turn.
    typealias Action = (MonotonicTime) -> Void

    private struct Entry: Comparable {
        let deadline: MonotonicTime
        /// Counts all timers ever scheduled: it orders equal deadlines and is the slot's generation.
        let sequence: UInt64
        let slot: Int

        static func < (left: Entry, right: Entry) -> Bool {
            left.deadline == right.deadline ? left.sequence < right.sequence : left.deadline < right.deadline
        }
    }

    private struct Slot {
        var generation: UInt64
        var action: Action?
    }

    private var heap = Heap<Entry>()
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var sequence: UInt64 = 0

    /// How many timers wait.
    var count: Int { slots.count - freeSlots.count }

    /// How many entries are kept, cancelled ones included.
    var entryCount: Int { heap.count }

    /// The earliest deadline; nil without timers.
    var nextDeadline: MonotonicTime? {
        mutating get {
            dropCancelled()
            return heap.min?.deadline
        }
    }

    /// Adds a timer.
    ///
    /// - Parameters:
    ///   - deadline: When it is due.
    ///   - action: What to run.
    /// - Returns: Its name.
    mutating func schedule(at deadline: MonotonicTime, _ action: @escaping Action) -> TimerID {
        sequence += 1
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            slots[slot] = Slot(generation: sequence, action: action)
        } else {
            slot = slots.count
            slots.append(Slot(generation: sequence, action: action))
        }
        heap.insert(Entry(deadline: deadline, sequence: sequence, slot: slot))
        return TimerID(slot: slot, generation: sequence)
    }

    /// Forgets a timer and what its action holds; does nothing when it ran or was cancelled before.
    ///
    /// - Parameter timer: The timer's name.
    mutating func cancel(_ timer: TimerID) {
        guard slots.indices.contains(timer.slot), isLive(slot: timer.slot, generation: timer.generation) else { return }
        release(slot: timer.slot)
        // Entries of cancelled timers stay in the heap until they are the earliest. Entries with far deadlines would
        // pile up if timers are set and cancelled again and again.
        if heap.count > 2 * count + 64 { compact() }
    }

    /// Takes the earliest timer out if it is due.
    ///
    /// - Parameter now: The present.
    /// - Returns: Its action, nil when no timer is due.
    mutating func popDue(now: MonotonicTime) -> Action? {
        dropCancelled()
        guard let first = heap.min, first.deadline <= now else { return nil }
        heap.removeMin()
        let action = slots[first.slot].action
        release(slot: first.slot)
        return action
    }

    private func isLive(slot: Int, generation: UInt64) -> Bool {
        slots[slot].generation == generation && slots[slot].action != nil
    }

    private mutating func release(slot: Int) {
        slots[slot].action = nil
        freeSlots.append(slot)
    }

    private mutating func dropCancelled() {
        while let first = heap.min, !isLive(slot: first.slot, generation: first.sequence) { heap.removeMin() }
    }

    private mutating func compact() {
        heap = Heap(heap.unordered.filter { isLive(slot: $0.slot, generation: $0.sequence) })
    }
}
