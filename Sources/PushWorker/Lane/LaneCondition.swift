/// What concerns all routes of a lane alike: when it changes, every route is looked at.
struct LaneCondition: Equatable {
    /// Whether the lane was asked to finish.
    var isDraining = false
    /// Whether a drain's time for sending is over, so that jobs that were not sent are handed back.
    var isLeaving = false
    /// Whether results have found no way out for so long that another worker should have the jobs that were not sent.
    var isHeldUp = false
}
