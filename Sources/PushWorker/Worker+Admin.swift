import EventLoop
import PushModel
package import TraceExport

// What the admin server is told about a worker.
extension Worker: AdminSource {
    /// How long ago the lane turned. Before its first turn, the time since the worker's start.
    package func progress() -> LaneProgress? {
        // A lane that ended drained does not turn any more, and is not stuck.
        guard !lane.isDrained else { return nil }
        return LaneProgress(
            sinceLastTurn: MonotonicTime.now() - (lane.status?.takenAt ?? startedAt), isStuck: lane.pulse.isStuck,
            step: lane.pulse.step.text)
    }

    /// Whether the lane has turned.
    var hasStarted: Bool { lane.status != nil }

    /// Whether the worker does its work, and if not, why.
    package func readiness() -> WorkerReadiness {
        var reasons: [String] = []
        let status = lane.status
        if status == nil { reasons.append("lane 0 has not started") }
        if lane.isEnded { reasons.append("lane 0 has stopped") }
        if status?.isDraining == true { reasons.append(WorkerReadiness.draining) }
        reasons += status?.troubles ?? []
        if let refusal = status?.refusal { reasons.append(refusal) }
        let joined = status?.routes ?? []
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
            instance: instance, reasons: Array(Set(reasons)).sorted(),
            lane: status.map {
                WorkerReadiness.Lane(
                    consume: $0.consume, publish: $0.publish,
                    detail: $0.troubles.isEmpty ? nil : $0.troubles.joined(separator: "; "))
            }, routes: routes,
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
        let snapshot = snapshot()
        let routes = (snapshot.routes + [snapshot.left]).compactMap(\.self)
        func sum(_ count: (RouteCounters) -> Int) -> Int { routes.reduce(0) { $0 + count($1) } }
        let counts =
            Outcome.allCases.map { outcome in (outcome.rawValue, sum { $0.outcomes.count(of: outcome) }) }
            + [("retries", sum { $0.retries.reduce(0, +) }), ("jobs given back", sum(\.jobsHandedBack))]
        let words = counts.filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "no notifications" : words.joined(separator: ", ")
    }

    /// The names of the routes by their numbers.
    package func routeNames() -> [String?] { routes.names }

    /// Everything counted so far.
    package func snapshot() -> LaneSnapshot { lane.metrics.latest }
}
