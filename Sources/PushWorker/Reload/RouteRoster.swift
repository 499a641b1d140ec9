import WorkerSettings

/// The routes that a worker has, and the steps by which it gets others. Pure.
///
/// Lanes, metrics and the fleet know a route by its number.
///
/// - A route that is removed keeps its number until every lane is done with it.
/// - A route that changed is removed first. It is added again once it is gone, under the first number that is free
///   then.
struct RouteRoster {
    /// One step. Steps are done in their order.
    enum Step: Equatable {
        /// A route begins: it is to be placed on lanes.
        case add(Int, RouteConfiguration)
        /// A route takes no more jobs and finishes what it has.
        case remove(Int)
        /// A route has another rate from now on.
        case limit(Int, RouteConfiguration)
    }

    private struct Entry {
        var route: RouteConfiguration
        /// The numbers of the lanes that are not done with it.
        var lanes: Set<Int> = []
        /// How many queues it has.
        var queues = 0
        var isLeaving = false
    }

    /// The number of the route that answers jobs nobody claims.
    let unrouted: Int
    /// The routes by their numbers; nil for a number that is free.
    private var entries: [Entry?]
    /// The routes that the worker is to have.
    private(set) var wanted: [RouteConfiguration]

    /// Starts with the routes of the configuration, numbered in their order. The next number belongs to the route that
    /// answers jobs nobody claims.
    init(_ routes: [RouteConfiguration]) {
        unrouted = routes.count
        entries = routes.map { Entry(route: $0) } + [nil]
        wanted = routes
    }

    /// The names of the routes by their numbers; nil for a number that is free.
    var names: [String?] {
        entries.enumerated().map { $0.offset == unrouted ? WorkerBuilder.unrouted : $0.element?.route.name }
    }

    /// The names of the routes that take jobs, by their numbers; nil for every other number.
    var served: [String?] { entries.map { $0.flatMap { $0.isLeaving ? nil : $0.route.name } } }

    /// How many queues its routes have on all lanes.
    var queues: Int { entries.reduce(0) { $0 + ($1.map { $0.queues * $0.lanes.count } ?? 0) } }

    /// How many lanes a route lives on.
    func lanes(of number: Int) -> Int { entries[number]?.lanes.count ?? 0 }

    /// Notes where a route lives.
    ///
    /// - Parameters:
    ///   - number: The route's number.
    ///   - lanes: The numbers of its lanes.
    ///   - queues: How many queues it has on each.
    mutating func placed(_ number: Int, on lanes: some Sequence<Int>, queues: Int) {
        entries[number]?.lanes = Set(lanes)
        entries[number]?.queues = queues
    }

    /// The worker is to have these routes.
    mutating func want(_ routes: [RouteConfiguration]) -> [Step] {
        wanted = routes
        return steps()
    }

    /// A lane is done with a route that was removed.
    ///
    /// - Returns: The route's name once every lane is done with it, and what is to be done then.
    mutating func left(_ number: Int, lane: Int) -> (name: String, steps: [Step])? {
        guard var entry = entries[number], entry.isLeaving else { return nil }
        entry.lanes.remove(lane)
        entries[number] = entry.lanes.isEmpty ? nil : entry
        return entry.lanes.isEmpty ? (entry.route.name, steps()) : nil
    }

    private mutating func steps() -> [Step] {
        let wantedByName = Dictionary(wanted.map { ($0.name, $0) }) { first, _ in first }
        var steps: [Step] = []
        var present: Set<String> = []
        for (number, entry) in entries.enumerated() {
            guard let entry else { continue }
            present.insert(entry.route.name)
            guard !entry.isLeaving else { continue }
            guard let route = wantedByName[entry.route.name], route.isSame(as: entry.route) else {
                // A route that found no lane has nothing to finish.
                if entry.lanes.isEmpty { present.remove(entry.route.name) }
                entries[number]?.isLeaving = true
                if entry.lanes.isEmpty { entries[number] = nil } else { steps.append(.remove(number)) }
                continue
            }
            entries[number]?.route = route
            if route.rate != entry.route.rate { steps.append(.limit(number, route)) }
        }
        for route in wanted where !present.contains(route.name) {
            let number = entries.indices.first { entries[$0] == nil && $0 != unrouted } ?? entries.count
            if number == entries.count { entries.append(nil) }
            entries[number] = Entry(route: route)
            steps.append(.add(number, route))
        }
        return steps
    }
}
