import EventLoop
import HeapModule

/// When each of a lane's routes has something to do only because time passes. Pure: time comes in.
///
/// A turn takes out the routes that are due and learns when the next one is. It looks at no other route, so a route to
/// which nothing happens costs a turn nothing.
struct DueTimes {
    private struct Entry: Comparable {
        let due: MonotonicTime
        let route: Int
        /// The number of this time. Each new time of a route has the next number.
        let generation: UInt64

        static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
    }

    private struct Time {
        var due = MonotonicTime.distantFuture
        var generation: UInt64 = 0
    }

    /// Outdated entries stay until they are the earliest, or until there are too many of them.
    private var heap = Heap<Entry>()
    /// When each route is due, by its position on the lane.
    private var times: [Time]

    /// Starts with routes that have no time.
    ///
    /// - Parameter count: How many routes there are.
    init(routes count: Int) { times = Array(repeating: Time(), count: count) }

    /// Makes room for one more route.
    mutating func add() { times.append(Time()) }

    /// How many entries are kept, outdated ones included.
    var entryCount: Int { heap.count }

    /// When the next route is due; nil if no route has a time.
    var earliest: MonotonicTime? {
        mutating get {
            dropOutdated()
            return heap.min?.due
        }
    }

    /// Sets the time of a route in place of the one before.
    ///
    /// - Parameters:
    ///   - due: When it is due; `distantFuture` if only events concern it.
    ///   - route: The route's position on the lane.
    mutating func set(_ due: MonotonicTime, of route: Int) {
        guard times[route].due != due else { return }
        let generation = times[route].generation + 1
        times[route] = Time(due: due, generation: generation)
        guard due != .distantFuture else { return }
        heap.insert(Entry(due: due, route: route, generation: generation))
        // A busy route's time changes with every turn, and each change leaves an outdated entry.
        if heap.count > 2 * times.count + 64 { heap = Heap(heap.unordered.filter(isCurrent)) }
    }

    /// Takes out a route that is due. It is not due again until its time is set again.
    ///
    /// - Parameter now: The time.
    /// - Returns: The route's position on the lane; nil when no further route is due.
    mutating func popDue(now: MonotonicTime) -> Int? {
        dropOutdated()
        guard let first = heap.min, first.due <= now else { return nil }
        heap.removeMin()
        times[first.route].due = .distantFuture
        return first.route
    }

    private func isCurrent(_ entry: Entry) -> Bool {
        times[entry.route].due == entry.due && times[entry.route].generation == entry.generation
    }

    private mutating func dropOutdated() {
        while let first = heap.min, !isCurrent(first) { heap.removeMin() }
    }
}
