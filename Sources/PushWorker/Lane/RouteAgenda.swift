import EventLoop

/// Which of a lane's routes a turn looks at: those that something happened to, those whose time has come, and those
/// that can go on now. The turn looks at no other route, so a route to which nothing happens costs a turn nothing.
///
/// `LaneMarks` say in which of the lists a route stands.
struct RouteAgenda {
    /// Routes that this turn looks at.
    private(set) var working: [Route] = []
    /// Routes that something happened to.
    private var marked: [Route] = []
    /// Routes that go on once results can go out.
    private var heldBack: [Route] = []
    /// Routes whose acknowledgements found no room.
    private var starved: [Route] = []
    /// When each route has something to do because time passes.
    private var dueTimes: DueTimes
    /// What all routes were told last; nil before the first turn.
    private var condition: LaneCondition?

    /// An agenda of routes to which nothing has happened yet.
    ///
    /// - Parameter count: How many routes there are.
    init(routes count: Int) { dueTimes = DueTimes(routes: count) }

    /// Whether the next turn has a route to look at.
    var hasMarked: Bool { !marked.isEmpty }
    /// Whether acknowledgements wait for room.
    var hasStarved: Bool { !starved.isEmpty }
    /// Whether routes wait for results to go out.
    var hasHeldBack: Bool { !heldBack.isEmpty }
    /// When the next route is due; nil if no route has a time.
    var earliest: MonotonicTime? {
        mutating get { dueTimes.earliest }
    }

    /// Something happened to a route.
    mutating func mark(_ route: Route) {
        guard !route.marks.isMarked else { return }
        route.marks.isMarked = true
        marked.append(route)
    }

    /// Marks all routes if what concerns them alike has changed.
    ///
    /// - Parameters:
    ///   - condition: What concerns all routes now.
    ///   - routes: The lane's routes.
    mutating func follow(_ condition: LaneCondition, _ routes: [Route]) {
        guard condition != self.condition else { return }
        self.condition = condition
        for route in routes { mark(route) }
    }

    /// Marks the routes that are due. They are not due again until their time is set again.
    ///
    /// - Parameters:
    ///   - routes: The lane's routes by their positions.
    ///   - now: The time.
    mutating func markDue(_ routes: [Route], now: MonotonicTime) {
        while let position = dueTimes.popDue(now: now) { mark(routes[position]) }
    }

    /// Marks the routes whose acknowledgements found no room, because there is room now.
    mutating func markStarved() {
        for route in starved {
            route.marks.isStarved = false
            mark(route)
        }
        starved.removeAll(keepingCapacity: true)
    }

    /// Marks the routes that waited for results to go out and can go on now.
    mutating func markHeldBack() {
        for route in heldBack where route.mayGoOn {
            route.marks.isHeldBack = false
            mark(route)
        }
        heldBack.removeAll { !$0.marks.isHeldBack }
    }

    /// Takes up the routes that were marked, for this turn.
    mutating func begin() {
        working.removeAll(keepingCapacity: true)
        swap(&marked, &working)
        for route in working { route.marks.isMarked = false }
    }

    /// Notes a route that waits for results to go out. The route goes on once they can.
    mutating func holdBack(_ route: Route) {
        guard !route.marks.isHeldBack, route.waitsForPublisher else { return }
        route.marks.isHeldBack = true
        heldBack.append(route)
    }

    /// A route's acknowledgements found no room.
    mutating func starve(_ route: Route) {
        guard !route.marks.isStarved else { return }
        route.marks.isStarved = true
        starved.append(route)
    }

    /// Sets when the route at a position is due, in place of the time before.
    mutating func set(_ due: MonotonicTime, of position: Int) { dueTimes.set(due, of: position) }

    /// Makes room for one more route.
    mutating func addPosition() { dueTimes.add() }

    /// Forgets a route that is gone, before another one takes its position.
    mutating func forget(_ route: Route) {
        marked.removeAll { $0 === route }
        heldBack.removeAll { $0 === route }
        starved.removeAll { $0 === route }
    }
}
