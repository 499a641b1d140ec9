package import TraceExport

/// The source of what the admin server shows: snapshots that may be taken on any thread at any time.
///
/// Taking a snapshot must not wait for the lane. The server is asked especially when the lane is stuck.
package protocol AdminSource: Sendable {
    /// How long ago the lane moved; nil once it has ended drained.
    func progress() -> LaneProgress?
    /// Whether the worker does its work, and if not, why.
    func readiness() -> WorkerReadiness
    /// The names of the routes by their numbers; nil for a number without a route.
    func routeNames() -> [String?]
    /// Everything counted so far.
    func snapshot() -> LaneSnapshot
    /// How the worker sees its fleet; nil for a worker whose share of the routes is configured.
    func fleetStatus() -> FleetStatus?
    /// How the worker knows what operators ask for.
    func controlStatus() -> ControlStatus
    /// How each credential is doing, by name.
    func credentialStatuses() -> [CredentialStatus]
    /// How many log lines found no room, or could not be written.
    func droppedLogLines() -> UInt64
    /// What became of the spans of notifications; nil where no collector is configured.
    func spanCounts() -> SpanQueue.Counts?
    /// How many jobs were reported that RabbitMQ ended in their queues, by why it ended them.
    func endedByBroker() -> [(reason: String, jobs: Int)]
}
