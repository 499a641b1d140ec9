import PushModel

/// The (environment, topic) pairs that one route answers for.
struct RouteClaim: Sendable {
    /// The claims of all configured routes.
    let table: RoutesTable
    /// The route's position in that table.
    let index: Int

    /// Whether a job's environment and topic belong to the route.
    func covers(_ job: borrowing Job) -> Bool {
        guard let environment = job.environment else { return false }
        return table.route(index, claims: environment, job.bytes.span.extracting(job.topic))
    }
}
