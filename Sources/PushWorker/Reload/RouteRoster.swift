import WorkerSettings

/// The routes that a worker has, and the steps by which it gets others. Pure.
///
/// The lane, metrics and the fleet know a route by its number.
///
/// - A route that is removed keeps its number until the lane is done with it.
/// - A route that changed is removed first. It is added again once it is gone, under the first number that is free
///   then.
struct RouteRoster {
    /// One step. Steps are done in their order.
    enum Step: Equatable {
        /// A route begins.
        case add(Int, RouteConfiguration)
        /// A route takes no more jobs and finishes what it has.
        case remove(Int)
        /// A route has another rate from now on.
        case limit(Int, RouteConfiguration)
    }

    private struct Entry {
        var route: RouteConfiguration
        /// How many queues it has; 0 for a route that could not begin.
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

    /// How many queues its routes have.
    var queues: Int { entries.reduce(0) { $0 + ($1?.queues ?? 0) } }

    /// Whether a route has begun.
    func hasBegun(_ number: Int) -> Bool { (entries[number]?.queues ?? 0) > 0 }

    /// A route has begun, and has so many queues.
    mutating func began(_ number: Int, queues: Int) { entries[number]?.queues = queues }

    /// The worker is to have these routes.
    mutating func want(_ routes: [RouteConfiguration]) -> [Step] {
        wanted = routes
        return steps()
    }

    /// The lane is done with a route that was removed.
    ///
    /// - Returns: The route's name, and what is to be done then; nil for a route that was not removed.
    mutating func left(_ number: Int) -> (name: String, steps: [Step])? {
        guard let entry = entries[number], entry.isLeaving else { return nil }
        entries[number] = nil
        return (entry.route.name, steps())
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
                guard hasBegun(number) else {
                    // It has nothing to finish.
                    present.remove(entry.route.name)
                    entries[number] = nil
                    continue
                }
                entries[number]?.isLeaving = true
                steps.append(.remove(number))
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
