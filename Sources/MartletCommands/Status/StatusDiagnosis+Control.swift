import PushWorker
import Text
import Topology

// Findings about commands of operators.
extension StatusDiagnosis {
    /// Jobs that wait because an operator paused their route.
    var pausedRoutes: [StatusFinding] {
        pauses.compactMap { name, command in
            let jobs = jobQueues.filter {
                TopologyNames.normalQueue(of: $0.name) == TopologyNames.jobQueue(route: name)
            }
            .reduce(0) { $0 +| ($1.ready ?? 0) }
            guard jobs > 0 else { return nil }
            return StatusFinding(
                urgency: .soon, object: command.object,
                detail: "\(Self.count(jobs, "job waits", "jobs wait")): \(command.account)",
                next: command.undoing ?? "martlet control")
        }
    }

    /// The normal job queues of routes that operators paused. These queues need no consumer.
    var pausedQueues: [String] { pauses.map { TopologyNames.jobQueue(route: $0.route) } }

    /// The rate that operators hold a queue's route to; nil without one.
    ///
    /// - Parameter queue: The queue of the route's normal jobs.
    func pace(of queue: String) -> ControlCommand? {
        standing.first { command in
            guard command.perSecond != nil, case .route(let name) = command.target else { return false }
            return TopologyNames.jobQueue(route: name) == queue
        }
    }

    private var pauses: [(route: String, command: ControlCommand)] {
        standing.compactMap { command in
            guard command.action == .pause, case .route(let name) = command.target else { return nil }
            return (name, command)
        }
    }

    private var standing: [ControlCommand] { facts.control.standing(at: facts.at) }
}
