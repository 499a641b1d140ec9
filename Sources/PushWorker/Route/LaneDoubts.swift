/// The questions of other lanes to a lane that finds out whether its channel is alive.
struct LaneDoubts {
    /// Questions that came after the channel was last asked for a sign of life, or before it could be asked.
    var waiting: [DeliveryOnLane] = []
    /// Questions asked before the channel was tested. The channel's answer settles them.
    var proving: [DeliveryOnLane] = []
    /// The jobs that the lane has; nil until a turn needs them.
    var keys: HeldKeys?
}
