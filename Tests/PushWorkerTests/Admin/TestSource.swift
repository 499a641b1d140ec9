import Synchronization
import TestSupport
import TraceExport

@testable import PushWorker

/// A source whose answers a test sets.
final class TestSource: AdminSource {
    struct State: Sendable {
        var progress: LaneProgress? = LaneProgress(sinceLastTurn: .milliseconds(5))
        var readiness = WorkerReadiness(instance: "w1", reasons: [], lane: nil, routes: [])
    }

    let state = Mutex(State())

    func progress() -> LaneProgress? { state.withLock(\.progress) }
    func readiness() -> WorkerReadiness { state.withLock(\.readiness) }
    func routeNames() -> [String?] { sampleRoutes }
    func snapshot() -> LaneSnapshot { sampleSnapshot() }
    func fleetStatus() -> FleetStatus? { FleetStatus(workers: 3, ignored: 2) }
    func credentialStatuses() -> [CredentialStatus] { [] }
    func controlStatus() -> ControlStatus { ControlStatus(trouble: "refused", inForce: 4, ignored: 5) }
    func droppedLogLines() -> UInt64 { 3 }
    func spanCounts() -> SpanQueue.Counts? { SpanQueue.Counts() }
    func endedByBroker() -> [(reason: String, jobs: Int)] { [("expired", 1), ("delivery_limit", 0)] }
}
