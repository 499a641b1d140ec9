import EventLoop
import PushModel
package import TraceExport

// What the admin server is told about a worker.
extension Worker: AdminSource {
    /// How long ago each lane turned. For a lane that has not turned yet, the time since the worker's start.
    package func progress() -> [LaneProgress] {
        let now = MonotonicTime.now()
        // A lane that ended drained does not turn any more, and is not stuck. Other lanes may still drain.
        return lanes.filter { !$0.handle.isDrained }.map { lane in
            let last = lane.handle.status?.takenAt ?? startedAt
            return LaneProgress(
                lane: lane.settings.index,
                sinceLastTurn: now - last,
                isStuck: lane.handle.pulse.isStuck, step: lane.handle.pulse.step.text)
        }
    }

    /// Whether every lane has turned.
    var hasStarted: Bool { lanes.allSatisfy { $0.handle.status != nil } }

    /// Whether the worker does its work, and if not, why.
    package func readiness() -> WorkerReadiness {
        var reasons: [String] = []
        var lanes: [WorkerReadiness.Lane] = []
        var joined: [LaneStatus.Route] = []
        var positions: [String: Int] = [:]
        var statuses: [LaneStatus] = []
        for lane in self.lanes {
            guard let status = lane.handle.status else {
                reasons.append("lane \(lane.settings.index) has not started")
                continue
            }
            if lane.handle.isEnded { reasons.append("lane \(status.index) has stopped") }
            if status.isDraining { reasons.append(WorkerReadiness.draining) }
            statuses.append(status)
            reasons += status.troubles
            lanes.append(
                WorkerReadiness.Lane(
                    lane: status.index, consume: status.consume, publish: status.publish,
                    detail: status.troubles.isEmpty ? nil : status.troubles.joined(separator: "; ")))
            for route in status.routes {
                if let position = positions[route.name] {
                    joined[position].join(route)
                } else {
                    positions[route.name] = joined.count
                    joined.append(route)
                }
            }
        }
        reasons += LaneStatus.refusals(of: statuses)
        let routes = joined.map { route in
            WorkerReadiness.Route(
                name: route.name, state: route.state.rawValue, reason: route.troubles.first,
                connections: route.connections,
                credentialVersion: route.credentialVersion, limitedBy: route.limitedBy.rawValue,
                stranger: route.stranger, refusal: route.refusal)
        }
        // A route that cannot work does not make the worker unready, unless no route works. Routes that operators
        // paused, or that other workers serve, do not count.
        let configured = joined.filter {
            $0.name != WorkerBuilder.unrouted && ![.unassigned, .paused].contains($0.state)
        }
        if !configured.isEmpty, !configured.contains(where: { $0.state == .ready }) {
            reasons += configured.map { "route \($0.name): \($0.troubles.first ?? $0.state.rawValue)" }
        }
        let fleet = fleetStatus()
        if let fleet, fleet.isUndecided, let detail = fleet.detail { reasons.append(detail) }
        return WorkerReadiness(
            instance: instance, reasons: Array(Set(reasons)).sorted(), lanes: lanes, routes: routes,
            fleet: fleet.map { WorkerReadiness.Fleet(workers: $0.workers, detail: $0.detail) },
            control: WorkerReadiness.Control(detail: controlStatus().trouble, inForce: controlStatus().inForce))
    }

    /// How the worker sees its fleet.
    package func fleetStatus() -> FleetStatus? { fleet?.status }

    /// How the worker hears what operators ask for.
    package func controlStatus() -> ControlStatus { control.status }

    /// How each credential is doing.
    package func credentialStatuses() -> [CredentialStatus] { credentials.statuses }

    /// How many log lines were lost, because they found no room.
    package func droppedLogLines() -> UInt64 { log?.droppedLines ?? 0 }

    /// What became of the spans; nil where no collector is configured.
    package func spanCounts() -> SpanQueue.Counts? { tracing?.spans.counts }

    /// How many jobs were reported that RabbitMQ ended in their queues, by why it ended them.
    package func endedByBroker() -> [(reason: String, jobs: Int)] {
        let reported = letters.reported
        return BrokerLetter.Cause.allCases.map { ($0.rawValue, reported[$0] ?? 0) }
    }

    /// The outcomes of all notifications, the retries and the jobs that were given back, as text.
    package var summary: String {
        let routes = laneSnapshots().flatMap { ($0.routes + [$0.left]).compactMap(\.self) }
        func sum(_ count: (RouteCounters) -> Int) -> Int { routes.reduce(0) { $0 + count($1) } }
        let counts =
            Outcome.allCases.map { outcome in (outcome.rawValue, sum { $0.outcomes.count(of: outcome) }) }
            + [("retries", sum { $0.retries.reduce(0, +) }), ("jobs given back", sum(\.jobsHandedBack))]
        let words = counts.filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "no notifications" : words.joined(separator: ", ")
    }

    /// The names of the routes by their numbers.
    package func routeNames() -> [String?] { routes.names }

    /// Everything counted so far, a snapshot per lane.
    package func laneSnapshots() -> [LaneSnapshot] { lanes.map { $0.handle.metrics.latest } }
}
