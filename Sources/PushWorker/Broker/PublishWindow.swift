import DequeModule

/// Shares the window of unconfirmed publications among the routes.
///
/// A queue without a leader confirms nothing. RabbitMQ stops reading a connection some 200 publications after 32 of them
/// wait for one such queue (`quorum_commands_soft_limit`, credit flow). Therefore the publications of the route that
/// writes to it must not fill what RabbitMQ takes, nor the window.
///
/// - While several routes publish, each may have `mostOfOne` unconfirmed. One route alone may have half of the window.
/// - A route may publish only while fewer of its publications are unconfirmed than the window has places left. So one
///   route leaves half of the window to the others.
/// - Publications of a route without a place wait here, in their order.
///
/// Pure: events in, publications out.
struct PublishWindow<Item: StallingPublication> {
    /// Most unconfirmed publications of one route while others publish, too.
    static var mostOfOne: Int { 128 }

    /// How many publications may be unconfirmed.
    let size: Int
    /// How many publications of all routes are unconfirmed.
    private var taken = 0
    /// How many publications of each route are unconfirmed, by position; nil if it has published none.
    private var counts: [Int?] = []
    /// How many routes have published since the channel was opened.
    private var publishing = 0
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
    /// Whether a waiting publication has a place now.
    var hasReleasable: Bool { !lines.isEmpty && lines.keys.contains { places(of: $0) > 0 } }

    /// Whether a route may publish one more.
    func hasPlace(for route: Int) -> Bool { places(of: route) > 0 }

    /// How many places there are before the route has as many as are left.
    private func places(of route: Int) -> Int {
        let unconfirmed = route < counts.count ? counts[route] ?? 0 : 0
        let left = size - taken - unconfirmed
        return publishing > 1 ? min(left, Self.mostOfOne - unconfirmed) : left
    }

    /// A publication of a route was written.
    mutating func published(_ route: Int) {
        if route >= counts.count { counts.append(contentsOf: repeatElement(nil, count: route + 1 - counts.count)) }
        if counts[route] == nil { publishing += 1 }
        counts[route] = (counts[route] ?? 0) + 1
        taken += 1
    }

    /// A publication of a route is no longer waited for.
    mutating func answered(_ route: Int) {
        counts[route] = counts[route].map { $0 - 1 }
        taken -= 1
    }

    /// Keeps a publication whose route has no place.
    mutating func hold(_ item: Item) { lines[item.route, default: []].append(item) }

    /// Takes out waiting publications for which there are places now.
    mutating func release() -> [Item] {
        guard !lines.isEmpty else { return [] }
        var released: [Item] = []
        for route in lines.keys {
            // Each one that goes out takes a place and leaves one less.
            let line = lines[route] ?? []
            let going = min(line.count, (max(0, places(of: route)) + 1) / 2)
            released.append(contentsOf: line.prefix(going))
            lines[route] = going == line.count ? nil : Deque(line.dropFirst(going))
        }
        return released
    }

    /// The channel is gone, and everything unconfirmed with it.
    ///
    /// - Returns: The publications that waited.
    mutating func reset() -> [Item] {
        let waiting = lines.values.flatMap { $0 }
        self = PublishWindow(size: size)
        return waiting
    }
}
