/// What a lane notes about one of its routes, so that the route stands in each of the lane's lists at most once.
/// The notes are the lane's own: the route neither reads nor writes them.
struct LaneMarks {
    /// Whether the lane will look at the route at the end of this turn.
    var isMarked = false
    /// Whether the lane looks at the route again once results can go out.
    var isHeldBack = false
    /// Whether the lane looks at the route again once acknowledgements have room.
    var isStarved = false
    /// Whether the lane's report knows the route as it is.
    var isReported = false
}
