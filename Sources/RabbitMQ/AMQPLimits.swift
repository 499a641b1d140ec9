/// What both ends agree to in connection.tune (AMQP 0-9-1, 1.4.2.5 and 1.4.2.6).
struct AMQPLimits: Equatable {
    /// The highest channel number.
    var channelMax: Int
    /// The largest frame, in bytes, with all that is around its payload.
    var frameMax: Int
    /// The heartbeat interval, in seconds; 0 for none.
    var heartbeat: Int

    /// The smaller of what is wanted here and what the broker offers, where 0 means no limit.
    ///
    /// - Parameter offer: What the broker offers.
    /// - Returns: What both can live with.
    func agreed(with offer: AMQPLimits) -> AMQPLimits {
        func smaller(_ wanted: Int, _ offered: Int) -> Int { offered == 0 ? wanted : min(wanted, offered) }
        return AMQPLimits(
            channelMax: smaller(channelMax, offer.channelMax), frameMax: smaller(frameMax, offer.frameMax),
            heartbeat: smaller(heartbeat, offer.heartbeat))
    }
}
