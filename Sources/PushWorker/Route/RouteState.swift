/// What a route does now, as `/readyz` and the metrics tell it.
///
/// The cases are in order. The first keeps the route least from pushing. So the minimum of several states is the best
/// one.
package enum RouteState: String, Sendable, CaseIterable, Comparable {
    /// It pushes, or would push its next job.
    case ready
    /// It tries one job at a time, to learn whether APNs takes jobs again.
    case probing
    /// It is about to consume its queues.
    case starting
    /// It cannot get a connection to APNs.
    case unreachable
    /// It takes no jobs: its credential cannot be used, or APNs answers nothing but errors.
    case parked
    /// An operator holds it.
    case paused
    /// Other workers serve it.
    case unassigned

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }

    package static func < (one: RouteState, other: RouteState) -> Bool { one.rank < other.rank }
}
