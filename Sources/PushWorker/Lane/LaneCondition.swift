/// What concerns all routes of a lane alike. When it changes, the lane looks at every route.
struct LaneCondition: Equatable {
    /// Whether the lane was asked to finish.
    var isDraining = false
    /// Whether a drain's time for sending is over. Jobs that were not sent are then handed back.
    var isLeaving = false
    /// Whether results could not go out for so long that another worker should get the jobs that were not sent.
    var isHeldUp = false

    /// What a route is told that leaves while the lane goes on: it gives unsent jobs back at once.
    var leaving: LaneCondition { LaneCondition(isDraining: true, isLeaving: true, isHeldUp: isHeldUp) }
}
