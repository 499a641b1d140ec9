/// What the admin server shows: snapshots that may be taken from any thread at any time.
///
/// Taking one must not wait for a lane, because the questions come exactly when one is stuck.
package protocol AdminSource: Sendable {
    /// How long each lane has not finished a turn of its loop.
    func progress() -> [LaneProgress]
    /// Whether the worker does its work, and if not, why.
    func readiness() -> WorkerReadiness
    /// The names of the routes by their numbers; nil for a number without a route.
    func routeNames() -> [String?]
    /// What each lane counted, in the order of the lanes.
    func laneSnapshots() -> [LaneSnapshot]
    /// How the worker sees its fleet; nil for one whose share of the routes is written.
    func fleetStatus() -> FleetStatus?
    /// How the worker knows what operators ask for.
    func controlStatus() -> ControlStatus
    /// How each credential is doing, by name.
    func credentialStatuses() -> [CredentialStatus]
    /// How many log lines found no room.
    func droppedLogLines() -> UInt64
}
