/// The facts that concern all routes of a lane. When one of them changes, the lane looks at every route.
struct LaneCondition: Equatable {
    /// Whether the lane was asked to finish.
    var isDraining = false
    /// Whether a drain's time for sending is over. Jobs that were not sent are then handed back.
    var isLeaving = false
    /// Whether results could not go out for so long that another worker should get the jobs that were not sent.
    var isHeldUp = false

    /// The condition for one route that is to give unsent jobs back at once, while the lane goes on.
    var leaving: LaneCondition { LaneCondition(isDraining: true, isLeaving: true, isHeldUp: isHeldUp) }
}
