import EventLoop

/// The open streams of a connection in the order of their deadlines.
///
/// All requests have the same timeout, so the order of submission is the order of deadlines. A linked list, whose links
/// lie in an array by slot, keeps that order. Any stream can leave the list in constant time, even if the oldest stream
/// stays silent for long.
struct DeadlineList: Sendable {
    private struct Link: Sendable {
        var due = MonotonicTime.distantFuture
        var before: Int32 = -1
        var after: Int32 = -1
    }

    private var links: [Link] = []
    private var head: Int32 = -1
    private var tail: Int32 = -1

    /// When the oldest stream is due; nil if the list is empty.
    var nextDue: MonotonicTime? { head < 0 ? nil : links[Int(head)].due }

    /// Adds a slot that is not in the list. Its deadline must be no earlier than the others'.
    mutating func append(_ slot: Int, due: MonotonicTime) {
        while links.count <= slot { links.append(Link()) }
        links[slot] = Link(due: due, before: tail, after: -1)
        if tail >= 0 { links[Int(tail)].after = Int32(slot) } else { head = Int32(slot) }
        tail = Int32(slot)
    }

    /// Takes out a slot, which must be in the list.
    mutating func remove(_ slot: Int) {
        let link = links[slot]
        if link.before >= 0 { links[Int(link.before)].after = link.after } else { head = link.after }
        if link.after >= 0 { links[Int(link.after)].before = link.before } else { tail = link.before }
    }

    /// Takes out the oldest slot if its deadline has passed.
    mutating func popDue(now: MonotonicTime) -> Int? {
        guard head >= 0, links[Int(head)].due <= now else { return nil }
        let slot = Int(head)
        remove(slot)
        return slot
    }
}
