/// What operators want of a route now.
struct RouteControl: Equatable {
    /// Whether it is not known yet what operators want.
    var isAwaited = false
    /// The command that pauses the route; nil for a route that is not paused.
    var pause: ControlCommand?
    /// The campaigns that are paused or cancelled, of all routes.
    var campaigns = CampaignIndex()
    /// The id of the last command that said that the route's dead tokens can be trusted; nil without one.
    var trust: String?

    /// Whether the route takes no jobs, sends nothing, and gives its unsent jobs back.
    var isHalted: Bool { isAwaited || pause != nil }
    /// Who paused the route and why, for people; nil for a route that is not paused.
    var reason: String? {
        pause.map { pause in "paused by \(pause.author)" + (pause.reason.map { ": \($0)" } ?? "") }
    }
}
