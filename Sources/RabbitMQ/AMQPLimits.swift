/// What both ends agree to in connection.tune (AMQP 0-9-1, 1.4.2.5 and 1.4.2.6).
struct AMQPLimits: Equatable {
    /// The highest channel number.
    var channelMax: Int
    /// The largest frame, in bytes: head, payload and end mark.
    var frameMax: Int
    /// The heartbeat interval, in seconds; 0 for none.
    var heartbeat: Int

    /// The smaller of each wanted and offered value. Where the broker offers 0, the wanted value stays.
    ///
    /// - Parameter offer: What the broker offers.
    /// - Returns: The limits to agree to.
    func agreed(with offer: AMQPLimits) -> AMQPLimits {
        func smaller(_ wanted: Int, _ offered: Int) -> Int { offered == 0 ? wanted : min(wanted, offered) }
        return AMQPLimits(
            channelMax: smaller(channelMax, offer.channelMax), frameMax: smaller(frameMax, offer.frameMax),
            heartbeat: smaller(heartbeat, offer.heartbeat))
    }
}
