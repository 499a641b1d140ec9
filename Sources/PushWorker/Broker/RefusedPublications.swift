internal import DequeModule
internal import EventLoop

/// Publications that the broker refused or could not route, and what would go the same way after them.
///
/// RabbitMQ refuses a publication when one of the queues refuses it to which it is bound, while the others keep it. So
/// each attempt stores one more copy in those, and what is refused is not published again as a whole: each route has a
/// line per exchange, and of a line one goes out per backoff. Once one is taken, the others follow, twice as many with
/// each answer; the next refusal stops them. Another route's results may have other queues, so its line is its own.
/// Pure: events and times in, publications out.
struct RefusedPublications<Item: StallingPublication> {
    /// Most publications of a line that are out at once.
    static var mostOut: Int { 512 }

    private struct Way: Hashable {
        let route: Int
        let destination: Publication.Destination
    }

    private struct Line {
        var waiting = Deque<Item>()
        /// How many of it are out.
        var out = 0
        /// How many may be out; none after a refusal.
        var allowance = 0
        /// When the next one goes out alone; nil where it is out, or others follow it.
        var triesAt: MonotonicTime?
        /// When the broker last refused one.
        var refusedAt = MonotonicTime(nanoseconds: 0)
        var backoff = Backoff.publication

        /// Whether all of it was taken. It is kept for a while, for its backoff.
        var isOver: Bool { waiting.isEmpty && out == 0 }
    }

    private var lines: [Way: Line] = [:]
    private var counts: [Int: Int] = [:]
    private var troubles: [Int: String] = [:]

    /// Starts without any.
    init() {}

    /// Whether no publication is in a line.
    var isEmpty: Bool { counts.isEmpty }

    /// The routes with publications in lines.
    var routes: Set<Int> { Set(counts.keys) }
    /// How many publications of a route are in its lines, those that are out included.
    func count(of route: Int) -> Int { counts[route] ?? 0 }

    /// Why a route's publications were refused last, in the words of readiness; nil where none is in a line.
    func trouble(of route: Int) -> String? { troubles[route] }

    /// When `due(now:)` has something to give only because time passed.
    var nextDue: MonotonicTime? { isEmpty ? nil : lines.values.compactMap(\.triesAt).min() }

    /// Lets a new publication line up where others of its route and exchange wait.
    ///
    /// - Returns: False where none waits, so that it can go out.
    mutating func takes(_ item: Item) -> Bool {
        guard !isEmpty, let way = way(of: item), lines[way]?.isOver == false else { return false }
        enter(item)
        lines[way]?.waiting.append(item)
        return true
    }

    /// Takes a publication that was refused: it is tried again after all that wait before it, or one that is refused
    /// for itself would hold up its line.
    ///
    /// - Parameters:
    ///   - item: The publication.
    ///   - trouble: Why, in the words of readiness.
    ///   - now: The time.
    ///   - random: Draws the wait.
    mutating func refused(
        _ item: Item, trouble: String, now: MonotonicTime, random: inout some RandomNumberGenerator
    ) {
        guard let way = way(of: item) else { return }
        var line = lines[way] ?? Line()
        if item.isInLine { line.out -= 1 } else { enter(item) }
        line.waiting.append(item)
        troubles[item.route] = trouble
        line.allowance = 0
        if line.triesAt == nil {
            line.backoff.ended(after: now - line.refusedAt)
            line.triesAt = now + line.backoff.next(using: &random)
        }
        line.refusedAt = now
        lines[way] = line
    }

    /// The broker took a publication: if it came from a line, more of it may follow.
    mutating func confirmed(_ item: Item) {
        guard item.isInLine, let way = way(of: item), var line = lines[way] else { return }
        leave(item)
        line.out -= 1
        if line.allowance > 0 { line.allowance = min(Self.mostOut, line.allowance + 1) }
        if line.isOver { line.triesAt = nil }
        lines[way] = line
    }

    /// One from a line that was to go out will never be sent, which says nothing about the others.
    mutating func gaveUp(_ item: Item) {
        guard item.isInLine, let way = way(of: item) else { return }
        leave(item)
        lines[way]?.out -= 1
    }

    /// Those that may go out now.
    mutating func due(now: MonotonicTime) -> [Item] {
        guard !lines.isEmpty else { return [] }
        var due: [Item] = []
        for (way, var line) in lines {
            if line.isOver {
                if now >= line.refusedAt + Backoff.probation { lines[way] = nil }
                continue
            }
            if let time = line.triesAt, now >= time {
                line.triesAt = nil
                line.allowance = 1
            }
            while line.out < line.allowance, let item = line.waiting.popFirst() {
                line.out += 1
                due.append(item)
            }
            lines[way] = line
        }
        return due
    }

    /// The connection is gone, and publications of lines with it: they go out again, one per line at first.
    ///
    /// - Parameter items: Those that were out, in their order.
    mutating func lost(_ items: [Item]) {
        for item in items.reversed() {
            guard item.isInLine, let way = way(of: item), var line = lines[way] else { continue }
            line.out -= 1
            line.waiting.prepend(item)
            line.allowance = line.triesAt == nil ? 1 : 0
            lines[way] = line
        }
    }

    private func way(of item: Item) -> Way? {
        item.destination.map { Way(route: item.route, destination: $0) }
    }

    private mutating func enter(_ item: Item) {
        item.isInLine = true
        counts[item.route, default: 0] += 1
    }

    private mutating func leave(_ item: Item) {
        item.isInLine = false
        counts[item.route] = counts[item.route].flatMap { $0 == 1 ? nil : $0 - 1 }
        if counts[item.route] == nil { troubles[item.route] = nil }
    }
}
