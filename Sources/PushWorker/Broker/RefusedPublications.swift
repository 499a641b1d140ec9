import DequeModule
import EventLoop

/// Publications that the broker refused, could not route or did not answer, and later ones that would meet the same
/// fate.
///
/// RabbitMQ refuses a publication if one of the bound queues refuses it. The other queues keep their copies, so each
/// attempt stores one more copy there. Therefore refused publications are not all published again at once.
///
/// - Each route has a line per exchange. One publication of a line goes out per backoff.
/// - Once one is taken, the others follow, two for each answer. The next refusal stops them.
/// - Results of another route may go to other queues, so each route has lines of its own.
///
/// Pure: events and times in, publications out.
struct RefusedPublications<Item: StallingPublication> {
    /// The least wait of a line in which a publication stayed unanswered for long.
    static var unconfirmedWait: Duration { .seconds(1) }
    /// A line that may have this many publications out counts as one that the broker takes again.
    static var enough: Int { 32 }
    /// Most publications of a line that are out at once.
    static var mostOut: Int { 512 }

    private struct Way: Hashable, Comparable {
        let route: Int
        let destination: Publication.Destination

        static func < (one: Way, other: Way) -> Bool {
            (one.route, one.destination) < (other.route, other.destination)
        }
    }

    private struct Line {
        var waiting = Deque<Item>()
        /// How many of its publications are out.
        var out = 0
        /// How many may be out; 0 after a refusal.
        var allowance = 0
        /// When the next one goes out alone; nil while it is out, or while others follow it.
        var triesAt: MonotonicTime?
        /// Whether the broker left one unanswered for long, instead of refusing it.
        var isUnconfirmed = false
        /// When the broker last refused one.
        var refusedAt = MonotonicTime(nanoseconds: 0)
        var backoff = Backoff.publication

        /// Whether everything in it was taken. The line is kept for a while, because of its backoff.
        var isOver: Bool { waiting.isEmpty && out == 0 }
        /// Whether new publications bypass the line. If they joined a line that works again, the line would never end.
        var isOpen: Bool { waiting.isEmpty && (out == 0 || allowance >= RefusedPublications.enough) }
    }

    private var lines: [Way: Line] = [:]
    private var counts: [Int: Int] = [:]
    private var troubles: [Int: String] = [:]

    /// Starts without publications.
    init() {}

    /// Whether no publication is in a line.
    var isEmpty: Bool { counts.isEmpty }

    /// The routes with publications in lines.
    var routes: Set<Int> { Set(counts.keys) }
    /// How many publications of a route are in its lines, with those that are out.
    func count(of route: Int) -> Int { counts[route] ?? 0 }

    /// Why a route's publications were refused last, in the words of readiness; nil if none is in a line.
    func trouble(of route: Int) -> String? { troubles[route] }

    /// Whether the line of a publication has one that the broker left unanswered for long.
    func isUnconfirmed(_ item: Item) -> Bool {
        item.isInLine && way(of: item).flatMap { lines[$0]?.isUnconfirmed } ?? false
    }

    /// When time alone lets `due(now:)` return something.
    var nextDue: MonotonicTime? { isEmpty ? nil : lines.values.compactMap(\.triesAt).min() }

    /// Puts a new publication into a line if others of its route and exchange wait there.
    ///
    /// - Returns: False if none waits. The publication can go out.
    mutating func takes(_ item: Item) -> Bool {
        guard !isEmpty, let way = way(of: item), lines[way]?.isOpen == false else { return false }
        enter(item)
        lines[way]?.waiting.append(item)
        return true
    }

    /// Puts a refused publication at the end of its line. At the front, a publication that is refused for its own sake
    /// would hold the line up.
    ///
    /// - Parameters:
    ///   - item: The publication.
    ///   - trouble: Why, in the words of readiness.
    ///   - isUnconfirmed: Whether the broker did not answer it for long, instead of refusing it.
    ///   - now: The time.
    ///   - random: Draws the wait.
    mutating func refused(
        _ item: Item, trouble: String, isUnconfirmed: Bool = false, now: MonotonicTime,
        random: inout some RandomNumberGenerator
    ) {
        guard let way = way(of: item) else { return }
        var line = lines[way] ?? Line()
        if item.isInLine { line.out -= 1 } else { enter(item) }
        line.waiting.append(item)
        troubles[item.route] = trouble
        line.allowance = 0
        line.isUnconfirmed = line.isUnconfirmed || isUnconfirmed
        if line.triesAt == nil {
            line.backoff.ended(after: now - line.refusedAt)
            let wait = line.backoff.next(using: &random)
            // The next try may block the slow channel again. Other lines on that channel have their turn before.
            line.triesAt = now + (isUnconfirmed ? max(wait, Self.unconfirmedWait) : wait)
        }
        line.refusedAt = now
        lines[way] = line
    }

    /// The broker took a publication. If it came from a line, more of the line may follow.
    mutating func confirmed(_ item: Item) {
        guard item.isInLine, let way = way(of: item), var line = lines[way] else { return }
        leave(item)
        line.out -= 1
        if line.allowance > 0 { line.allowance = min(Self.mostOut, line.allowance + 1) }
        if line.isOver {
            line.triesAt = nil
            line.isUnconfirmed = false
        }
        lines[way] = line
    }

    /// A publication from a line will never be sent. That says nothing about the others.
    mutating func gaveUp(_ item: Item) {
        guard item.isInLine, let way = way(of: item), var line = lines[way] else { return }
        leave(item)
        line.out -= 1
        if line.isOver { line.isUnconfirmed = false }
        lines[way] = line
    }

    /// Takes out the publications that may go out now.
    mutating func due(now: MonotonicTime) -> [Item] {
        guard !lines.isEmpty else { return [] }
        var due: [Item] = []
        for way in lines.keys.sorted() {
            guard var line = lines[way] else { continue }
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

    /// The connection is gone. The publications of lines that were out go out again, one per line at first.
    ///
    /// - Parameter items: The publications that were out, in their order.
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
