import EventLoop
import HeapModule

/// What will happen in a world, by time. Of two events of one moment the one that was noted first happens first.
struct Agenda {
    private struct Event: Comparable {
        let time: MonotonicTime
        let number: Int
        let happen: () -> Void

        static func < (one: Event, other: Event) -> Bool { (one.time, one.number) < (other.time, other.number) }
        static func == (one: Event, other: Event) -> Bool { one.number == other.number }
    }

    private var events = Heap<Event>()
    /// How many events were noted.
    private(set) var noted = 0

    /// When something happens next; nil for never.
    var next: MonotonicTime? { events.min?.time }

    /// Notes an event.
    mutating func note(at time: MonotonicTime, _ happen: @escaping () -> Void) {
        events.insert(Event(time: time, number: noted, happen: happen))
        noted += 1
    }

    /// Takes the next event that is due.
    mutating func popDue(_ now: MonotonicTime) -> (() -> Void)? {
        guard let next = events.min, next.time <= now else { return nil }
        return events.removeMin().happen
    }
}
