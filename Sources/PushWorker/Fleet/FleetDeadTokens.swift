/// What the workers of a fleet last reported of the dead tokens of some routes. Pure.
///
/// Reports of workers that stopped count as well, because a worker is often restarted alone.
struct FleetDeadTokens {
    /// The most workers that are remembered; reports of further workers are ignored.
    static let mostWorkers = FleetMembership.mostWorkers

    private struct Worker {
        var startedAt: Int64
        var routes: [String: DeadTokenKnowledge]
    }

    private let routes: Set<String>
    private var workers: [String: Worker] = [:]
    /// How many messages were not reports, or came from workers beyond `mostWorkers`.
    private(set) var ignored = 0

    /// Starts with nothing heard.
    ///
    /// - Parameter routes: The names of the routes that matter.
    init(routes: Set<String>) { self.routes = routes }

    /// How many workers it has heard of.
    var workerCount: Int { workers.count }
    /// The names of the routes whose device tokens a new worker is to hold.
    var held: [String] { routes.filter { knowledge(ofRoute: $0)?.holds == true }.sorted() }

    /// Takes a report. It replaces what its worker reported before.
    ///
    /// - Parameter report: The report; nil for a message that cannot be read.
    mutating func heard(_ report: WorkerReport?) {
        guard let report else {
            ignored += 1
            return
        }
        let known = workers[report.instance]
        // The last report of an earlier worker says nothing about the one that took its name.
        if let known, report.startedAt < known.startedAt { return }
        guard known != nil || workers.count < Self.mostWorkers else {
            ignored += 1
            return
        }
        var said: [String: DeadTokenKnowledge] = [:]
        for route in report.routes where routes.contains(route.name) { said[route.name] = route.deadTokens }
        workers[report.instance] = Worker(startedAt: report.startedAt, routes: said)
    }

    /// The knowledge with which a new worker begins; nil if no report has any.
    ///
    /// - Parameter name: The route's name.
    func knowledge(ofRoute name: String) -> DeadTokenKnowledge? {
        DeadTokenKnowledge(of: workers.values.compactMap { $0.routes[name] })
    }
}
