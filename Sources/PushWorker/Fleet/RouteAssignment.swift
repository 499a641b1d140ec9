import Text

/// Decides which workers serve which routes. Workers that know of the same others decide the same. Pure.
///
/// The method is rendezvous hashing: route and worker together give a weight, and the workers with the highest weights
/// serve the route. A worker that comes or goes moves only its own routes.
///
/// A worker always counts itself, and others that it has not heard of cannot outweigh it. So workers that know too few
/// others serve too many routes, never too few.
/// [Rendezvous hashing](https://doi.org/10.1109/90.663936)
struct RouteAssignment {
    /// How many workers serve a route: with two, the end of one stops no route.
    static let replicas = 2

    /// The workers and the hashes of their names, each once.
    private let workers: [(name: String, hash: UInt64)]

    /// Takes the workers by their names.
    init(workers: some Sequence<String>) {
        self.workers = Set(workers).map { ($0, StableHash.spread(StableHash.of($0))) }
    }

    /// The assignment to a fleet of fixed size, whose workers are called `1`, `2` and so on.
    ///
    /// - Parameter count: How many workers there are.
    init(fixed count: Int) { self.init(workers: (1...count).map(String.init)) }

    /// Which routes a worker serves.
    ///
    /// - Parameters:
    ///   - worker: Its name. The worker is counted in any case.
    ///   - routes: The names of all routes, by their numbers; nil for a number without a route.
    func served(by worker: String, of routes: [String?]) -> ServedRoutes {
        let own = StableHash.spread(StableHash.of(worker))
        return ServedRoutes(
            routes.enumerated().filter { _, route in
                guard let route else { return false }
                let hash = StableHash.of(route)
                let weight = (StableHash.spread(hash ^ own), worker)
                let above = workers.count { (StableHash.spread(hash ^ $0.hash), $0.name) > weight }
                return above < Self.replicas
            }.map(\.offset))
    }
}
