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
        return covers(environment, job.bytes.span.extracting(job.topic))
    }

    /// Whether an environment and a topic belong to the route.
    func covers(_ environment: APNSEnvironment, _ topic: Span<UInt8>) -> Bool {
        table.route(index, claims: environment, topic)
    }
}
