import DequeModule
import EventLoop

/// Shares the window of unconfirmed publications among the routes.
///
/// A queue without a leader confirms nothing. RabbitMQ takes about 200 more publications on a channel that has 32 for
/// one such queue (`quorum_commands_soft_limit`, credit flow). Then it stops reading the connection. Therefore a route
/// that writes to such a queue must not use up those 200, nor the window.
///
/// - While several routes publish, each may have `mostOfOne` unconfirmed. One route alone may have half of the window.
/// - A route may publish only while fewer of its publications are unconfirmed than the window has places left. So one
///   route leaves half of the window to the others.
/// - Publications of a route without a place wait here, in their order.
///
/// Pure: events and times in, publications out.
struct PublishWindow<Item: StallingPublication> {
    /// Most unconfirmed publications of one route while others publish, too.
    static var mostOfOne: Int { 128 }
    /// For how long the window counts as shared after the publishing route changed.
    static var memory: Duration { .seconds(10) }

    /// How many publications may be unconfirmed.
    let size: Int
    /// How many publications of all routes are unconfirmed.
    private var taken = 0
    /// How many publications of each route are unconfirmed, by position.
    private var counts: [Int] = []
    /// The route that published last.
    private var latest: Int?
    /// When a route last published after another one did; nil while only one route has published.
    private var changedAt: MonotonicTime?
    /// Whether several routes publish.
    private var isShared = false
    /// The waiting publications of each route that has some.
    private var lines: [Int: Deque<Item>] = [:]

    /// A window without publications.
    ///
    /// - Parameter size: How many publications may be unconfirmed.
    init(size: Int) { self.size = size }

    /// Whether no publication waits.
    var isEmpty: Bool { lines.isEmpty }
    /// The routes whose publications wait.
    var routes: Set<Int> { Set(lines.keys) }
    /// How many publications of a route wait.
    func count(of route: Int) -> Int { lines.isEmpty ? 0 : lines[route]?.count ?? 0 }
    /// The routes whose first waiting publication has a place now.
    var ready: [Int] { lines.isEmpty ? [] : lines.keys.filter(hasPlace).sorted() }

    /// Whether a route may publish one more.
    func hasPlace(for route: Int) -> Bool {
        let unconfirmed = route < counts.count ? counts[route] : 0
        return unconfirmed < size - taken && !(isShared && unconfirmed >= Self.mostOfOne)
    }

    /// Notes at each turn whether several routes have published within `memory`.
    mutating func passTime(now: MonotonicTime) {
        isShared = changedAt.map { now < $0 + Self.memory } ?? false
    }

    /// A publication of a route was written.
    mutating func published(_ route: Int, now: MonotonicTime) {
        if route >= counts.count { counts.append(contentsOf: repeatElement(0, count: route + 1 - counts.count)) }
        counts[route] += 1
        taken += 1
        guard latest != route else { return }
        if latest != nil {
            changedAt = now
            isShared = true
        }
        latest = route
    }

    /// A publication of a route is no longer waited for.
    mutating func answered(_ route: Int) {
        counts[route] -= 1
        taken -= 1
    }

    /// Keeps a publication whose route has no place.
    mutating func hold(_ item: Item) { lines[item.route, default: []].append(item) }

    /// The first waiting publication of a route.
    func first(of route: Int) -> Item? { lines[route]?.first }

    /// Takes out the first waiting publication of a route.
    mutating func removeFirst(of route: Int) {
        lines[route]?.removeFirst()
        if lines[route]?.isEmpty == true { lines[route] = nil }
    }

    /// Takes out waiting publications.
    mutating func removeAll(where isTaken: (Item) -> Bool) {
        for route in lines.keys.sorted() {
            lines[route]?.removeAll(where: isTaken)
            if lines[route]?.isEmpty == true { lines[route] = nil }
        }
    }

    /// The channel is gone, and everything unconfirmed with it.
    ///
    /// - Returns: The publications that waited.
    mutating func reset() -> [Item] {
        let waiting = lines.sorted { $0.key < $1.key }.flatMap(\.value)
        self = PublishWindow(size: size)
        return waiting
    }
}
