import PushModel
import Topology

/// Tells which routes the jobs of dead letters belonged to: a pure value.
///
/// A letter does not name its route. So the route follows from the job's routing key and the topics that each route
/// has now.
struct LetterRoutes {
    private let table: RoutesTable
    private let wanted: Set<Int>

    /// Prepares for some of a configuration's routes.
    ///
    /// - Parameters:
    ///   - names: The names of the routes that are wanted.
    ///   - routes: All routes of the configuration.
    /// - Throws: `usage` where a name is not among them.
    init(_ names: [String], of routes: [TopologyRoute]) throws(CommandFailure) {
        var wanted: Set<Int> = []
        for name in names {
            guard let position = routes.firstIndex(where: { $0.name == name }) else {
                throw CommandFailure(
                    .usage, "--route \(name.printable): the configuration has no route of that name",
                    remedy: "Its routes are: \(routes.map(\.name).joined(separator: ", ")).")
            }
            wanted.insert(position)
        }
        self.wanted = wanted
        table = RoutesTable(routes: routes)
    }

    /// Whether a job belongs to one of the routes that are wanted.
    ///
    /// - Parameter key: The routing key that the job came with.
    func take(jobsOf key: String) -> Bool {
        let bytes = Array(key.utf8)
        guard let key = JobRoutingKey(0..<bytes.count, in: bytes.span),
            let route = table.route(key.environment, bytes.span.extracting(key.topic))
        else { return false }
        return wanted.contains(route)
    }
}
