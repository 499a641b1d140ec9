/// Where a delivery stands among all deliveries of one message.
struct DeliveryOrigin: Equatable {
    /// How often the broker had taken the message back, by the count of a quorum queue; 0 without a count.
    var returns: Int64 = 0
    /// How often the route had given back deliveries that it held unread, or had lost them with their channel.
    var unreadReturns: UInt32 = 0

    /// Whether another worker may have had the message between an earlier delivery and this delivery.
    ///
    /// The message came back once from the earlier delivery. It came back once more each time it may have been among
    /// the deliveries held unread. Further returns mean another worker.
    ///
    /// The message may also have been lost on its way here, with a channel that died before the message was read. Such a
    /// loss looks the same as another worker's death. The loss then costs a duplicate that the result explains. A
    /// worker's death that is ignored would leave a duplicate unexplained.
    ///
    /// - Parameter earlier: The earlier delivery.
    func wasElsewhere(since earlier: DeliveryOrigin) -> Bool {
        returns - earlier.returns > 1 + Int64(unreadReturns &- earlier.unreadReturns)
    }
}
