/// Where a delivery stands among all deliveries of one message.
struct DeliveryOrigin: Equatable {
    /// How often the broker had taken the message back, by the count of a quorum queue; 0 without a count.
    var returns: Int64 = 0
    /// How often the route had given back deliveries that it held unread, or had lost them with their channel.
    var unreadReturns: UInt32 = 0

    /// Whether another worker may have had the message between an earlier delivery and this delivery.
    ///
    /// The message came back once from the earlier delivery. It came back once more each time it may have been among
    /// the deliveries held unread, or on its way to a channel that was lost together with the earlier one. Further
    /// returns mean another worker.
    ///
    /// Another worker's death is missed if the return that it caused looks like a return from a channel that was lost
    /// together with the earlier one. Without this allowance a route on two lanes makes duplicates each time that it
    /// loses its connections. It pushes again a seventh to a third of the jobs that it holds: 367 of 2,695, 534 of
    /// 1,827 and 744 of 3,663 in fault rows 8, 4 and 6.
    ///
    /// The message may also have been lost later on its way here, with a channel that died before the message was read.
    /// Such a loss looks the same as another worker's death. The loss then costs a duplicate that the result explains.
    /// A worker's death that is ignored would leave a duplicate unexplained.
    ///
    /// - Parameters:
    ///   - earlier: The earlier delivery.
    ///   - lostTogether: How many other channels were lost together with that delivery's.
    func wasElsewhere(since earlier: DeliveryOrigin, lostTogether: Int = 0) -> Bool {
        returns - earlier.returns > 1 + Int64(unreadReturns &- earlier.unreadReturns) + Int64(lostTogether)
    }
}
